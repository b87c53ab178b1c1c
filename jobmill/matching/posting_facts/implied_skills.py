"""Skills that imply others: a person with Django experience knows Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

# Each line: a skill, then the skills it implies, named as in `skills.txt`.
TABLE = """
Django > Python
Flask > Python
FastAPI > Python
Pyramid Framework > Python
Celery > Python
SQLAlchemy > Python, SQL
Alembic > SQLAlchemy
Pydantic > Python
asyncio > Python
pandas > Python
NumPy > Python
SciPy > Python
Polars > Python
Matplotlib > Python
scikit-learn > Python, Machine learning
TensorFlow > Machine learning
PyTorch > Python, Deep learning
Keras > Python, Deep learning
JAX > Python, Machine learning
XGBoost > Machine learning
LightGBM > Machine learning
Hugging Face > Machine learning
LangChain > LLM
LangGraph > LangChain
LlamaIndex > LLM
RAG > LLM
Prompt engineering > LLM
LLM > Generative AI
Deep learning > Machine learning
Reinforcement learning > Machine learning
Computer vision > Machine learning
spaCy > Python, NLP
NLTK > Python, NLP
pytest > Python
TypeScript > JavaScript
React > JavaScript
React Native > React
Redux > React
Next.js > React
TanStack > React
Material UI > React
Vue > JavaScript
Nuxt > Vue
Angular > TypeScript
RxJS > JavaScript
Svelte > JavaScript
Ember.js > JavaScript
Backbone.js > JavaScript
jQuery > JavaScript
D3.js > JavaScript
Three.js > JavaScript, WebGL
Node.js > JavaScript
Express.js > Node.js
NestJS > Node.js, TypeScript
Deno > TypeScript
Jest > JavaScript
Vitest > JavaScript
Webpack > JavaScript
Electron.js > JavaScript
Sass > CSS
Tailwind CSS > CSS
Bootstrap CSS > CSS
CSS > HTML
Spring Framework > Java
Spring Boot > Spring Framework
Hibernate > Java
Quarkus > Java
Micronaut > Java
JUnit > Java
JPA > Java
Maven > Java
Jetpack Compose > Kotlin, Android
Akka > Scala
Play Framework > Scala
Ruby on Rails > Ruby
RSpec > Ruby
Sidekiq > Ruby
Sinatra > Ruby
Laravel > PHP
Symfony > PHP
WordPress > PHP
Drupal > PHP
Magento > PHP
Phoenix Framework > Elixir
C# > .NET
F# > .NET
VB.NET > .NET
Blazor > C#
Entity Framework > .NET
Xamarin > C#
Unity3D > C#
Unreal Engine > C++
Objective-C > iOS
UIKit > iOS
Xcode > iOS
Flutter > Dart
PostgreSQL > SQL
MySQL > SQL
MariaDB > SQL
SQLite > SQL
SQL Server > SQL
Oracle Database > SQL
T-SQL > SQL Server
PL/SQL > Oracle Database
BigQuery > SQL, Google Cloud
Amazon Redshift > SQL, AWS
Snowflake > SQL
Presto SQL > SQL
Apache Hive > SQL, Hadoop
ClickHouse > SQL
CockroachDB > SQL
TimescaleDB > PostgreSQL
dbt > SQL
MongoDB > NoSQL
DynamoDB > NoSQL, AWS
Cassandra > NoSQL
CouchDB > NoSQL
Couchbase > NoSQL
Azure Cosmos DB > NoSQL, Azure
Databricks > Apache Spark
AWS Lambda > AWS, Serverless
Amazon EC2 > AWS
Amazon S3 > AWS
Amazon RDS > AWS
Amazon EKS > AWS, Kubernetes
Amazon ECS > AWS, Docker
Amazon SQS > AWS
Amazon SNS > AWS
Amazon Kinesis > AWS
Amazon CloudWatch > AWS
Amazon API Gateway > AWS
Amazon Aurora > AWS, SQL
Amazon Athena > AWS, SQL
Amazon EMR > AWS
Amazon Bedrock > AWS
AWS Fargate > AWS
AWS Glue > AWS
AWS Step Functions > AWS
AWS CDK > AWS, Infrastructure as code
CloudFormation > AWS, Infrastructure as code
SageMaker > AWS, Machine learning
GKE > Google Cloud, Kubernetes
Google Cloud Run > Google Cloud
Google Pub/Sub > Google Cloud
Vertex AI > Google Cloud, Machine learning
AKS > Azure, Kubernetes
Azure DevOps > Azure
Azure Functions > Azure, Serverless
Azure Data Factory > Azure
Azure Synapse > Azure
Terraform > Infrastructure as code
OpenTofu > Terraform
Pulumi > Infrastructure as code
Kubernetes > Docker
OpenShift > Kubernetes
Helm charts > Kubernetes
Istio > Kubernetes
Argo CD > Kubernetes, CI/CD
Flux CD > Kubernetes, CI/CD
Jenkins > CI/CD
GitHub Actions > GitHub, CI/CD
GitLab CI > GitLab, CI/CD
CircleCI > CI/CD
Travis CI > CI/CD
TeamCity > CI/CD
GitHub > Git
GitLab > Git
Bitbucket > Git
Embedded Linux > Linux
RTOS > Embedded systems
Scrum > Agile
Kanban > Agile
SAFe > Agile
Apollo GraphQL > GraphQL
SAP HANA > SAP
SAP S/4HANA > SAP
ABAP > SAP
DevSecOps > DevOps
PowerPoint > Microsoft Office
Microsoft Excel > Microsoft Office
Microsoft Word > Microsoft Office
Apex Salesforce > Salesforce
Salesforce > CRM
HubSpot > CRM
"""


def implied_skills(names: Iterable[str]) -> set[str]:
    """The skills that these imply, directly or indirectly, without the given ones."""
    names_set = set(names)
    return {implied for name in names_set for implied in _implied_by(name)} - names_set


@cache
def _implied_by(name: str) -> frozenset[str]:
    implied: set[str] = set()
    pending = [name]
    while pending:
        new = _table().get(pending.pop(), frozenset()) - implied
        implied |= new
        pending += new
    return frozenset(implied)


@cache
def _table() -> dict[str, frozenset[str]]:
    lines = (line.split(" > ") for line in TABLE.strip().splitlines())
    return {name: frozenset(others.split(", ")) for name, others in lines}
