"""A profile with every field, for people to start from."""

TEXT = """\
# A profile: whom listings are judged for. Leave out what does not matter to you: every field has
# a default. `jobmill profile check FILE` says what is wrong, by line.

person:
  name: Dana Pell                # only for your own documents; it never moves a score
  home_city: Portland, OR        # offices there count more
  timezone: America/Los_Angeles  # how far a team's working hours are from yours

summary: Backend engineer who keeps water running.
experience_years: 12

skills:                          # the rank says how important: primary, strong or familiar (3, 2 or 1)
  - {name: Python, rank: primary, years: 8}
  - {name: PostgreSQL, rank: strong, years: 6}
  - Kubernetes                   # a name alone is a familiar skill

titles: [Senior Software Engineer, Staff Engineer]
seniority: [senior, lead, staff] # intern entry junior mid senior lead staff principal manager director executive
role_types: [ic]                 # ic, management; none: any
locations: [Seattle]             # besides the home city
arrangements: [remote, hybrid]   # remote anywhere; hybrid and onsite in the home city and in locations
company_size: large              # large, medium or small; none: any
salary_floor: {amount: 150000, currency: USD, period: year}

stop_lists:                      # what you never want to see
  companies: [Brine Ltd]
  domains: [brine.example]
  keywords: [clearance, crypto]  # whole words in a title or a URL

# What an application may say of you; nothing else is ever stated.
highlights: [Cut pump downtime by 40%]
projects: ["tinypump: a simulator of pumps"]
achievements: [Best Pump 2020]

rules:                           # all at their default here: keep only what you change
  strikes:                       # a listing with `threshold` strikes is filtered out
    threshold: 5
    location: {least: 2, most: 3}
    seniority: {least: 2, most: 3}
    missing_skill: {least: 1, most: 3}
    missing_skills_cap: 4        # at most for all, where you have half of what is required
    experience: {least: 2, most: 3}
  company:                       # points of a company
    home_city_office: 50
    tech_alignment: 100          # at most
    remote_first: 15
    ai_ml: 10
  tiers: {S: 150, A: 100, B: 70, C: 50}
  weights:                       # of a score; together 100
    skills: 45
    title: 15
    seniority: 10
    experience: 10
    salary: 5
    arrangement: 5
    meaning: 10
  timezone: {least: -15, most: 5}
  size: {preferred: 10, small: -5}
  match: {score: 80, with_home_city: 65}
  priorities: {high: 85, medium: 70}
"""
