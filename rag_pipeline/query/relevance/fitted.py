"""The calibrations that were fitted to questions and stored in the ledger, kept for a short time."""

import time

from pydantic import ValidationError

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.ledger.calibrations import Calibrations
from rag_pipeline.query.relevance.calibration import Calibration

# How long other processes go on with what was stored before.
_KEPT_SECONDS = 30.0

_REMEDY = "Fit it anew with `rag-pipeline eval calibrate --apply`."


class FittedCalibrations:
    """The calibration of each fingerprint, read when first needed and then kept for half a minute.

    May be used from several threads; whoever comes first together reads twice.
    """

    def __init__(self, *, kept_seconds: float = _KEPT_SECONDS) -> None:
        self._kept_seconds = kept_seconds
        self._kept: dict[str, tuple[float, Calibration | None]] = {}

    def of(self, fingerprint: str, stored: Calibrations) -> Calibration | None:
        """The calibration that was fitted for a fingerprint; None where none was.

        Raises ConfigurationError where what is stored cannot be used, or was fitted for other vectors.
        """
        known = self._kept.get(fingerprint)
        if known and time.monotonic() - known[0] < self._kept_seconds:
            return known[1]
        calibration = _read(fingerprint, stored)
        self._kept[fingerprint] = (time.monotonic(), calibration)
        return calibration

    def forget(self) -> None:
        """Read everything anew, since something was stored or removed."""
        self._kept.clear()


def _read(fingerprint: str, stored: Calibrations) -> Calibration | None:
    found = stored.of(fingerprint)
    if found is None:
        return None
    try:
        calibration = Calibration.model_validate(found.calibration)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ConfigurationError(
            f"The calibration that is stored for the fingerprint {fingerprint} cannot be used: "
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}. {_REMEDY}"
        ) from None
    if calibration.fitted_for != fingerprint:
        raise ConfigurationError(
            f"The calibration that is stored for the fingerprint {fingerprint} was fitted for "
            f"{calibration.fitted_for}, whose cosines mean something else. {_REMEDY}"
        )
    return calibration
