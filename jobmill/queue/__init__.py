"""A durable, staged, loop-safe work queue in PostgreSQL. It does not know what the work is about."""

from jobmill.queue.admission import declare_stages as declare_stages
from jobmill.queue.admission import submit as submit
from jobmill.queue.admission import submit_all as submit_all
from jobmill.queue.store import lock_claim as lock_claim
from jobmill.queue.work import AcceptedItem as AcceptedItem
from jobmill.queue.work import Advance as Advance
from jobmill.queue.work import Block as Block
from jobmill.queue.work import BlockedOn as BlockedOn
from jobmill.queue.work import Filter as Filter
from jobmill.queue.work import Finish as Finish
from jobmill.queue.work import HandOver as HandOver
from jobmill.queue.work import ItemId as ItemId
from jobmill.queue.work import Move as Move
from jobmill.queue.work import NewItem as NewItem
from jobmill.queue.work import NotAdmitted as NotAdmitted
from jobmill.queue.work import RefusedItem as RefusedItem
from jobmill.queue.work import Skip as Skip
from jobmill.queue.work import Stage as Stage
from jobmill.queue.work import Stages as Stages
from jobmill.queue.work import StartRate as StartRate
from jobmill.queue.work import WaitFor as WaitFor
from jobmill.queue.work import WaitUntil as WaitUntil
from jobmill.queue.work import Work as Work
from jobmill.queue.worker import Worker as Worker
