"""A durable, staged, loop-safe work queue in PostgreSQL. It does not know what the work is about."""

from jobmill.queue.admission import declare_stages as declare_stages
from jobmill.queue.admission import submit as submit
from jobmill.queue.admission import submit_all as submit_all
from jobmill.queue.items import AcceptedItem as AcceptedItem
from jobmill.queue.items import ItemId as ItemId
from jobmill.queue.items import NewItem as NewItem
from jobmill.queue.items import NotAdmitted as NotAdmitted
from jobmill.queue.items import RefusedItem as RefusedItem
from jobmill.queue.items import Work as Work
from jobmill.queue.stages import Advance as Advance
from jobmill.queue.stages import Block as Block
from jobmill.queue.stages import BlockedOn as BlockedOn
from jobmill.queue.stages import Filter as Filter
from jobmill.queue.stages import Finish as Finish
from jobmill.queue.stages import HandOver as HandOver
from jobmill.queue.stages import Move as Move
from jobmill.queue.stages import Postpone as Postpone
from jobmill.queue.stages import Skip as Skip
from jobmill.queue.stages import Stage as Stage
from jobmill.queue.stages import Stages as Stages
from jobmill.queue.stages import StartRate as StartRate
from jobmill.queue.stages import WaitFor as WaitFor
from jobmill.queue.stages import WaitUntil as WaitUntil
from jobmill.queue.store import lock_claim as lock_claim
from jobmill.queue.worker import Worker as Worker
