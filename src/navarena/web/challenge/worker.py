"""Workers: processes that execute submissions, here or on other machines; see `navarena serve-worker`."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from navarena.core.errors import describe_error
from navarena.core.registry import load_target
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.jobs import (
    LEASE_SECONDS,
    RECORDING,
    Lease,
    LeaseLostError,
    end_job,
    fail_recording,
    free_lost_jobs,
    give_back_job,
    name_worker,
    renew_job,
    take_job,
)

POLL_SECONDS = 0.5

RUNNERS: Mapping[str, str] = {
    RECORDING: "navarena.web.challenge.recording_job:run_recording_job",
    "live": "navarena.web.challenge.live.job:run_live_job",
    "log": "navarena.web.challenge.verification:run_log_job",
    "trajectory": "navarena.web.challenge.trajectories:run_trajectory_job",
}
"""Kind of a job -> "module:function" that executes one, called with the service and the lease.

It writes the end of the submission or recording; what it raises is a fault of the server, and that fails."""

LOG = logging.getLogger("navarena.challenge")


class Worker:
    """Takes one job after the other.

    Args:
        service: of the challenge.
        lease_seconds: after which another worker takes over when this one says nothing.
    """

    def __init__(self, service: Service, lease_seconds: float = LEASE_SECONDS) -> None:
        self._service, self._lease_seconds = service, lease_seconds

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Execute jobs as long as `goes_on` says so; it is asked between jobs and while none waits."""
        while goes_on():
            if not self.run_one():
                time.sleep(POLL_SECONDS)

    def run_one(self) -> bool:
        """Execute the oldest job that waits; whether there was one."""
        storage = self._service.storage
        free_lost_jobs(storage)
        lease = take_job(storage, name_worker(), tuple(RUNNERS), self._lease_seconds)
        if lease is None:
            return False
        try:
            with self._keep(lease):
                load_target(RUNNERS[lease.kind])(self._service, lease)
        except LeaseLostError as error:
            LOG.warning("%s", error)
        except Exception as error:
            LOG.exception("submission %d", lease.submission_id)
            self._fail(lease, error)
        except BaseException:  # the worker ends
            with contextlib.suppress(LeaseLostError):
                give_back_job(storage, lease)
            raise
        return True

    @contextlib.contextmanager
    def _keep(self, lease: Lease) -> Iterator[None]:
        """Renew the lease in the block, also while a scene is built or a kernel is compiled."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(lease.seconds / 3):
                try:
                    renew_job(self._service.storage, lease)
                except LeaseLostError:  # the next write says so, too
                    return
                except Exception:  # the database may come back before the lease ends
                    LOG.exception("cannot renew the lease of job %d", lease.job_id)

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _fail(self, lease: Lease, error: Exception) -> None:
        """The submission or recording ends by a fault of the server: it takes nothing from the quota."""
        with contextlib.suppress(LeaseLostError), self._service.storage.write() as session:
            submission = end_job(session, lease)
            if lease.kind == RECORDING:
                fail_recording(session, lease.job_id, "the server cannot make it; its hosts find out why")
                return
            submission.state, submission.finished = "failed", now_ms()
            submission.error_code = "server_error"
            submission.error_text = "the server cannot execute this submission; its hosts find out why"
            LOG.error("submission %s failed: %s", submission.public_id, describe_error(error))
