"""A profile with every field, for people to start from."""

TEXT = """\
# A profile describes the person that jobs are scored for. Every field has a default: leave out what
# does not matter to you. `jobmill profile check FILE` lists problems with their line numbers.

person:
  name: Dana Pell                # only for your own documents; never affects a score
  home_city: Portland, OR        # companies with an office there get more points
  timezone: America/Los_Angeles  # compared with the team's working hours

summary: Backend engineer who keeps water running.
experience_years: 12

skills:                          # rank: primary, strong or familiar (or 3, 2, 1)
  - {name: Python, rank: primary, years: 8}
  - {name: PostgreSQL, rank: strong, years: 6}
  - Kubernetes                   # without a rank, a skill is familiar

languages: [English, Spanish]    # spoken; they do not change a score
titles: [Senior Software Engineer, Staff Engineer]
seniority: [senior, lead, staff] # or intern, entry, junior, mid, principal, manager, director, executive
role_types: [ic]                 # ic (individual contributor) or management; empty: any
locations: [Seattle]             # in addition to the home city
arrangements: [remote, hybrid]   # hybrid and onsite count only in the home city and in locations
company_size: large              # large, medium or small; leave out for any
salary_floor: {amount: 150000, currency: USD, period: year}

stop_lists:                      # jobs you never want to see
  companies: [Brine Ltd]
  domains: [brine.example]
  keywords: [clearance, crypto]  # whole words in a title or a URL

# The only statements that an application may make about your work.
highlights: [Cut pump downtime by 40%]
projects: ["tinypump: a simulator of pumps"]
achievements: [Best Pump 2020]

# The master resume: what a resume or letter for one job may be made of. It does not change a score.
resume:
  headline: Senior Software Engineer
  contact:
    email: dana@example.net
    phone: +351 555 0100
    address: 12 Mill Lane, Portland, OR 97204  # as printed; if missing, your home city
    links: [{label: GitHub, url: "https://github.example/dana"}]
  work_authorisation: [US citizen] # in your own words
  experience:                    # newest first; months such as 2021-03, years such as 2021, or present
    - title: Staff Engineer
      employer: Wells & Co
      location: Portland, OR
      start: 2019-04
      end: present
      summary: Control software for 60 pumping stations.
      highlights: [Cut pump downtime by 40%, Led a team of five]
      skills: [Python, PostgreSQL]
  projects:
    - {name: tinypump, url: "https://tinypump.example", start: 2020, end: 2021, summary: A simulator of pumps., highlights: [Used in two courses], skills: [Python]}
  education:
    - {institution: University of Porto, degree: BSc, field: Hydrology, grade: first class, start: 2005, end: 2009, highlights: [Thesis on wells]}
  licences:
    - {name: Water Operator License, issuer: State of Oregon, number: W-1234, issued: 2015, expires: 2027-06}
  languages:
    - {name: English, level: native}

rules:                           # these are the defaults; keep only what you change
  strikes:                       # a job with this many strikes (`threshold`) is filtered out
    threshold: 5
    location: {least: 2, most: 3}
    seniority: {least: 2, most: 3}
    missing_skill: {least: 1, most: 3}
    missing_skills_cap: 4        # maximum for all missing skills, if you have at least 40% of the required ones
    experience: {least: 2, most: 3}
  company:                       # points for a company
    home_city_office: 50
    tech_alignment: 100          # maximum
    remote_first: 15
    ai_ml: 10
  tiers: {S: 150, A: 100, B: 70, C: 50}
  weights:                       # how the parts of a score share its 100 points; must add up to 100
    skills: 45
    title: 15
    seniority: 10
    experience: 10
    salary: 5
    arrangement: 5
    meaning: 10
  timezone: {least: -15, most: 5} # points of the 100: most for the same working hours, least for none shared
  size: {preferred: 10, small: -5} # points of the 100, if company_size is set
  match: {score: 80, with_home_city: 65} # minimum score of a match; lower with an office in the home city
  priorities: {high: 85, medium: 70} # minimum scores; below medium is low
"""
