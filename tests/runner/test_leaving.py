"""Where an algorithm that asks for a native kernel goes on when a GPU does not answer; without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import LeftToHostError
from dromos.errors import DeviceError, ResourceError
from dromos.runner import Session


class _Gpu:
    """An engine with the name of the GPU's, whose kernels fail."""

    name = "cuda"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def prepare(self, *args: Any) -> Any:
        raise AssertionError("nothing is run")

    def native(self, name: str) -> Callable[..., Any]:
        def kernel(*args: Any, **options: Any) -> Any:
            raise self.error

        return kernel


def _walk(error: Exception, may_leave: bool) -> Session:
    session = Session("walks", dr.generators.path(3), device=_Gpu(error))
    session._may_leave = may_leave
    fields = session.host_native("walks", starts=np.arange(3), length=1, p=1.0, q=1.0, seed=0)
    assert fields["walk"].shape == (3, 2)
    return session


@pytest.mark.parametrize("error", [DeviceError("full"), ResourceError("too little", needed=9)])
def test_a_gpu_without_room_is_left_where_nobody_asked_for_it(error: Exception) -> None:
    assert _walk(error, may_leave=True).engine.name == "cpu"
    with pytest.raises(type(error)):
        _walk(error, may_leave=False)


@pytest.mark.parametrize("may_leave", [True, False])
def test_what_a_kernel_leaves_to_the_host_is_done_there(may_leave: bool) -> None:
    assert _walk(LeftToHostError("deep"), may_leave).engine.name == "cpu"


def test_a_session_leaves_a_gpu_that_nobody_asked_for() -> None:
    for may_leave, name in ((True, "cpu"), (False, "cuda")):
        session = Session("walks", dr.generators.path(3), device=_Gpu(DeviceError("full")))
        session._may_leave = may_leave
        session.little_to_do()
        assert session.engine.name == name
