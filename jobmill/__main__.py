"""python -m jobmill"""

from jobmill.cli import main

main()
