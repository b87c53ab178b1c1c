import resource

from jobmill.boards.adapters import find_platform
from jobmill.boards.readable_board import read_saved_response
from jobmill.extract.page import page_reader
from jobmill.hiring.import_export import spreadsheets
from jobmill.matching import resume


def read(kind, body, name):
    if kind == "page":
        r = page_reader.read_posting(body, "https://x.example/job/1", expected=True)
        r = r.method
    elif kind == "board":
        r = len(read_saved_response(find_platform("greenhouse"), body))
    elif kind == "feed":
        r = len(read_saved_response(find_platform("rss"), body, url="https://x.example/feed"))
    elif kind == "resume":
        resume.read_resume(body, name)
        r = "ok"
    else:
        r = len(spreadsheets.parse_csv(body, needed=["name", "email"]))
    return (r, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
