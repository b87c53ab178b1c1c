"""Skills by the names that people give them, found as whole words and never as parts of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

# One skill a line: its name, then what else it is called. Case matters only after `=`.
PLAIN = """
Python | python3 | python 3 | cpython
JavaScript | ecmascript | es6 | java script
TypeScript | type script
Java | java 8 | java 11 | java 17 | java 21 | j2ee | java ee | jakarta ee
C++ | cpp | c plus plus
C# | csharp | c sharp | c-sharp
.NET | dotnet | dot net | .net core | .net framework | asp.net | asp.net core
Go | golang
Rust | rustlang
Swift | swiftui
R | rstudio | tidyverse | ggplot2
Kotlin
Scala
PHP
Perl
Haskell
Clojure | clojurescript
=Elixir
Erlang
F# | fsharp
OCaml
Lua
=Groovy
Objective-C | objective c | objectivec
MATLAB
Fortran
COBOL
VB.NET | visual basic | vba
SQL
PL/SQL | plsql
T-SQL | tsql | transact-sql
Bash | bash scripting | shell scripting | shell script
PowerShell
Solidity
Verilog | systemverilog
VHDL
CUDA
OpenCL
OpenGL
WebGL
Vulkan
WebAssembly | wasm
HTML | html5 | xhtml
CSS | css3
Sass | scss
Tailwind CSS | tailwind | tailwindcss
Bootstrap CSS | bootstrap 4 | bootstrap 5
React | react.js | reactjs
React Native | react-native
Redux
Next.js | nextjs
Vue | vue.js | vuejs | vue 3
Nuxt | nuxt.js | nuxtjs
Angular | angularjs | angular.js
=Svelte | sveltekit
Ember.js | emberjs
jQuery
Backbone.js | backbonejs
D3.js | d3 | d3js
Three.js | threejs
Webpack
Vite | vitejs
Babel.js | babeljs
=Storybook
Electron.js | electronjs
=Flutter
Ionic Framework
Xamarin
Node.js | nodejs | node js
Express.js | expressjs
NestJS | nest.js
Deno
Django | django rest framework | drf
Flask
FastAPI | fast api
Pyramid Framework
=Celery
SQLAlchemy
Pydantic
asyncio
Ruby on Rails | =Rails | =RoR
Laravel
Symfony
WordPress
Drupal
Magento
Shopify
Spring Boot | springboot
Spring Framework | spring mvc | spring cloud
Hibernate
Quarkus
Micronaut
Play Framework
Akka
Phoenix Framework | phoenix liveview
Entity Framework | ef core
Blazor
GraphQL
Apollo GraphQL
gRPC
Protocol Buffers | protobuf
=REST | restful | rest api | rest apis | restful api | restful apis
SOAP API | soap apis | soap web services
OpenAPI | swagger
WebSockets | websocket
OAuth | oauth2 | oauth 2.0
OpenID Connect | oidc
SAML
JWT
PostgreSQL | postgres | psql
MySQL
MariaDB
SQLite
SQL Server | mssql | ms sql | microsoft sql server
Oracle Database | oracle db | oracle 12c | oracle 19c
MongoDB | mongo
Redis
Memcached
=Cassandra | apache cassandra
DynamoDB
CouchDB
Couchbase
Neo4j
Elasticsearch | elastic search
OpenSearch
Solr | apache solr
InfluxDB
TimescaleDB
ClickHouse
CockroachDB
Firebase | firestore
Supabase
BigQuery | google bigquery
Amazon Redshift | aws redshift
=Snowflake
Databricks
Teradata
Apache Hive | hiveql
Presto SQL | prestodb | trino
Apache Spark | pyspark | spark sql | spark streaming
Hadoop | apache hadoop | hdfs | mapreduce
Kafka | apache kafka | kafka streams
RabbitMQ
ActiveMQ
Amazon SQS | aws sqs | sqs
Amazon SNS | aws sns
=NATS
Apache Flink
Apache Beam
Airflow | apache airflow
Dagster
=Prefect
dbt
Fivetran
Debezium
ETL | elt
Data warehousing | data warehouse
Data modeling | data modelling
AWS | amazon web services
Azure | microsoft azure
Google Cloud | gcp | google cloud platform
DigitalOcean
Heroku
Cloudflare
Vercel
Netlify
OpenStack
AWS Lambda | amazon lambda
Amazon EC2 | aws ec2 | ec2
Amazon S3 | aws s3 | s3
Amazon RDS | aws rds
Amazon EKS | aws eks | eks
Amazon ECS | aws ecs | ecs
CloudFormation
AWS CDK
Docker | dockerfile | docker compose | docker-compose
Kubernetes | k8s
OpenShift
Helm charts | helm chart
Istio
Terraform
OpenTofu
Pulumi
Ansible
SaltStack
=Vagrant
HashiCorp Vault
HashiCorp Consul
Jenkins
GitHub Actions
GitLab CI | gitlab ci/cd
CircleCI | circle ci
Travis CI
TeamCity
Argo CD | argocd
CI/CD | ci / cd | continuous integration | continuous delivery | continuous deployment
Git
GitHub
GitLab
Bitbucket
Subversion | svn
Mercurial SCM
Linux | ubuntu | debian | red hat enterprise linux | rhel | centos
Unix
Windows Server
nginx
Apache HTTP Server | apache httpd
HAProxy
Traefik
Prometheus
Grafana
Datadog
New Relic
Splunk
=ELK | elk stack | elastic stack
Logstash
Kibana
OpenTelemetry
Jaeger
=Sentry
PagerDuty
Microservices | microservice | micro-services
Distributed systems
Event-driven architecture | event driven architecture
Domain-driven design | domain driven design
Serverless
Machine learning
Deep learning
NLP | natural language processing
Computer vision
Reinforcement learning
LLM | llms | large language models | large language model
Generative AI | genai
=RAG | retrieval augmented generation | retrieval-augmented generation
TensorFlow
PyTorch
Keras
scikit-learn | sklearn
XGBoost
LightGBM
Hugging Face | huggingface
LangChain
LlamaIndex
OpenCV
spaCy
NLTK
MLflow
Kubeflow
SageMaker | amazon sagemaker
Vertex AI
pandas
NumPy
SciPy
Polars
Matplotlib
Plotly
Jupyter | jupyter notebook | jupyter notebooks
Tableau
Power BI | powerbi
=Looker
Metabase
Apache Superset
Microsoft Excel | ms excel
=SAS
SPSS
Stata
Figma
Adobe XD
Photoshop | adobe photoshop
Adobe Illustrator
InDesign | adobe indesign
After Effects
Blender 3D
AutoCAD
SolidWorks
Unity3D | unity engine | unity 3d
Unreal Engine
Godot
Android
iOS
Jetpack Compose
Xcode
=Jest
Mocha.js | mochajs
Cypress.io
=Playwright
Selenium | selenium webdriver
=Puppeteer
pytest
JUnit
TestNG
RSpec
Cucumber.js
=Postman
JMeter | apache jmeter
TDD | test-driven development | test driven development
BDD | behavior-driven development | behaviour-driven development
Agile
Scrum
Kanban
Jira
=Confluence
Salesforce
Apex Salesforce
ServiceNow
=SAP
SAP HANA
ABAP
Workday HCM
NetSuite
HubSpot
Zendesk
Stripe API
Twilio
Segment CDP
Google Analytics
=SEO
Penetration testing | pentesting
OWASP
SIEM
Wireshark
Burp Suite
Metasploit
Nessus
TCP/IP
DNS
BGP
Cisco IOS
Juniper Junos
VMware | vsphere | esxi
Hyper-V
Proxmox
Active Directory
Microsoft 365 | office 365 | o365
SharePoint
Kerberos
LDAP
RTOS | freertos
Embedded Linux
Embedded C
Arduino
Raspberry Pi
FPGA
ROS 2 | ros2
=PLC
SCADA
LabVIEW
Simulink
Blockchain
Ethereum
Accessibility | a11y | wcag
Responsive design
UX research | user research
UI/UX | ux/ui
Wireframing
Prototyping
Design systems | design system
Product management
Project management
Technical writing
Site reliability engineering | sre
DevOps
DevSecOps
MLOps
Data science
Data engineering
Data analysis | data analytics
Infrastructure as code | iac
"""

# These are also everyday words: (how the skill is written, its name, whether it is a language).
EVERYDAY = (
    ("Go", "Go", True), ("C", "C", True), ("R", "R", True), ("Rust", "Rust", True),
    ("Swift", "Swift", True), ("Ruby", "Ruby", True), ("Dart", "Dart", True),
    ("Julia", "Julia", False), ("Elm", "Elm", True), ("Assembly", "Assembly", True),
    ("Delphi", "Delphi", True), ("Ada", "Ada", False), ("Zig", "Zig", True),
    ("Spring", "Spring Framework", False), ("Express", "Express.js", False),
    ("Spark", "Apache Spark", False), ("Hive", "Apache Hive", False),
    ("Flink", "Apache Flink", False), ("Beam", "Apache Beam", False),
    ("Presto", "Presto SQL", False), ("Redshift", "Amazon Redshift", False),
    ("Lambda", "AWS Lambda", False), ("Oracle", "Oracle Database", False),
    ("Helm", "Helm charts", False), ("Vault", "HashiCorp Vault", False),
    ("Consul", "HashiCorp Consul", False), ("Chef", "Chef", False), ("Puppet", "Puppet", False),
    ("Salt", "SaltStack", False), ("Excel", "Microsoft Excel", False), ("Unity", "Unity3D", False),
    ("Sketch", "Sketch", False), ("Illustrator", "Adobe Illustrator", False),
    ("Blender", "Blender 3D", False), ("Cypress", "Cypress.io", False),
    ("Mocha", "Mocha.js", False), ("Cucumber", "Cucumber.js", False),
    ("Electron", "Electron.js", False), ("Ember", "Ember.js", False),
    ("Backbone", "Backbone.js", False), ("Bootstrap", "Bootstrap CSS", False),
    ("Phoenix", "Phoenix Framework", False), ("Apollo", "Apollo GraphQL", False),
    ("Apache", "Apache HTTP Server", False), ("Less", "Less CSS", False),
    ("Stripe", "Stripe API", False), ("Node", "Node.js", False), ("Sinatra", "Sinatra", False), ("Segment", "Segment CDP", False),
)  # fmt: skip

# `c++`, `.net` and `node.js` begin or end with marks, so \b does not do.
BEFORE = r"(?<![\w@#+])(?<!\w[.\-])"
AFTER = r"(?![\w+#])(?![.\-]\w)"
AFTER_PLAIN = r"(?![\w+#])(?!\.\w)"

REACH = 80
"""So far around a word we look for what it means there."""
MARK = re.compile(r"[,;/|•·()\[\]:\t]| (?:and|or|&) |(?:^|\s)[-\u2013\u2014*]\s")
SAID = re.compile(r"\b(?:in|with|using|of)\s$", re.IGNORECASE)
SAYS = re.compile(r"\s(?:programming|language|developer|engineer|code|codebase)\b", re.IGNORECASE)
ENDS = re.compile(r"\s*(?:$|[,.;:()/&|•·\[\]]|(?:and|or|[-\u2013\u2014])\s)")


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill, and where a text names it."""

    name: str
    start: int
    end: int


def find(text: str) -> list[Hit]:
    """Every place where the text names a skill, in order; a longer name hides the shorter in it."""
    hits: list[Hit] = []
    begin = 0
    for line in text.splitlines(keepends=True):
        hits += [Hit(one.name, begin + one.start, begin + one.end) for one in _in_line(line)]
        begin += len(line)
    return hits


def named(text: str) -> list[str]:
    """The skills that a text names, each once, in the order in which they come."""
    return list(dict.fromkeys(hit.name for hit in find(text)))


def canonical(name: str) -> str:
    """The name under which we know a skill, else the name itself."""
    name = name.strip()
    word = _everyday().get(name)
    return word[0] if word else _folded().get(name.casefold()) or _exact().get(name) or name


def _in_line(line: str) -> list[Hit]:
    found = list(_pattern().finditer(line))
    among_skills = any(one.lastgroup != "word" for one in found)
    return [
        Hit(canonical(one[0]), *one.span())
        for one in found
        if one.lastgroup != "word" or _is_meant(line, one, among_skills)
    ]


def _is_meant(line: str, found: re.Match[str], among_skills: bool) -> bool:
    """Whether an everyday word stands where only a skill would: named as a language, or in a list."""
    before = line[max(0, found.start() - REACH) : found.start()]
    after = line[found.end() : found.end() + REACH]
    _, is_language = _everyday()[found[0]]
    ends = ENDS.match(after) is not None
    if is_language and (SAYS.match(after) or (ends and SAID.search(before))):
        return True
    return among_skills and ends and _begins_an_item(before)


def _begins_an_item(before: str) -> bool:
    last = [mark.end() for mark in MARK.finditer(before)]
    return not (before[last[-1] :] if last else before).strip()


@cache
def _spellings() -> tuple[dict[str, str], dict[str, str]]:
    folded: dict[str, str] = {}
    exact: dict[str, str] = {}
    for line in PLAIN.strip().splitlines():
        spellings = line.split(" | ")
        name = spellings[0].removeprefix("=")
        for one in spellings:
            if one.startswith("="):
                exact[one[1:]] = name
            else:
                folded[one.casefold()] = name
    words = {word.casefold() for word, _, _ in EVERYDAY}
    return {one: name for one, name in folded.items() if one not in words}, exact


def _folded() -> dict[str, str]:
    return _spellings()[0]


def _exact() -> dict[str, str]:
    return _spellings()[1]


@cache
def _everyday() -> dict[str, tuple[str, bool]]:
    return {word: (name, is_language) for word, name, is_language in EVERYDAY}


@cache
def _pattern() -> re.Pattern[str]:
    """All spellings in one, the longest first, so that each place is looked at once."""
    folded, exact, words = map(_either, (_folded(), _exact(), _everyday()))
    return re.compile(
        f"{BEFORE}(?:(?P<folded>(?i:{folded})){AFTER_PLAIN}|(?P<exact>{exact}){AFTER_PLAIN}"
        f"|(?P<word>{words}){AFTER})"
    )


def _either(spellings: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(spellings, key=len, reverse=True)))
