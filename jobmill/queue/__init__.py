"""A durable, staged, loop-safe work queue in PostgreSQL. It does not know what the work is about."""

from jobmill.queue.admission import declare as declare
from jobmill.queue.admission import submit as submit
from jobmill.queue.admission import submit_all as submit_all
from jobmill.queue.store import hold as hold
from jobmill.queue.work import Advance as Advance
from jobmill.queue.work import Block as Block
from jobmill.queue.work import Blocked as Blocked
from jobmill.queue.work import Filter as Filter
from jobmill.queue.work import Finish as Finish
from jobmill.queue.work import HandOver as HandOver
from jobmill.queue.work import ItemId as ItemId
from jobmill.queue.work import Move as Move
from jobmill.queue.work import New as New
from jobmill.queue.work import NotAdmitted as NotAdmitted
from jobmill.queue.work import Placed as Placed
from jobmill.queue.work import Refused as Refused
from jobmill.queue.work import Skip as Skip
from jobmill.queue.work import Stage as Stage
from jobmill.queue.work import Stages as Stages
from jobmill.queue.work import StartRate as StartRate
from jobmill.queue.work import WaitFor as WaitFor
from jobmill.queue.work import WaitUntil as WaitUntil
from jobmill.queue.work import Work as Work
from jobmill.queue.worker import Worker as Worker
