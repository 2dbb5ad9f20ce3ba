"""Calibrations as files that people review, and in the ledger, where they count."""

import logging
import os
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from rag_pipeline.errors import BadQuestionSet, ConfigurationError
from rag_pipeline.evaluation.calibrating.doubts import backwards
from rag_pipeline.evaluation.calibrating.fitted import Fitted
from rag_pipeline.evaluation.calibrating.page import page
from rag_pipeline.ledger.calibrations import StoredCalibration
from rag_pipeline.services import Services

logger = logging.getLogger(__name__)

_NAMED_BY = 12
_LARGEST_FILE = 4 << 20


class CalibrationFiles(NamedTuple):
    """What was written: the calibration itself, and a page with its curves for people."""

    calibration: Path
    page: Path


def write_files(fitted: Fitted, folder: Path) -> CalibrationFiles:
    """Write a calibration and its page into a folder, in the place of earlier ones of the fingerprint.

    Raises ConfigurationError where a file cannot be written; what was there before is then still there.
    """
    name = f"calibration-{fitted.fingerprint[:_NAMED_BY]}"
    files = CalibrationFiles(folder / f"{name}.json", folder / f"{name}.html")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(f"{fitted.model_dump_json(indent=2)}\n", files.calibration)
        _write(page(fitted), files.page)
    except OSError as error:
        raise ConfigurationError(f"The calibration cannot be written to {folder}: {error}.") from None
    return files


def _write(text: str, file: Path) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def read_file(file: Path) -> Fitted:
    """A calibration from its file, as a person left it; weights that are odd are warned of.

    Raises BadQuestionSet naming what is wrong with the file, ConfigurationError where it cannot be read.
    """
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise ConfigurationError(f"{file} is larger than {_LARGEST_FILE >> 20} MiB.")
        fitted = Fitted.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise BadQuestionSet(f"{file} is no calibration: {field}: {first['msg']}.") from None
    for warning in backwards(fitted.calibration.weights):
        logger.warning("%s: %s", file, warning)
    return fitted


def apply(fitted: Fitted, services: Services) -> None:
    """Let a calibration count for the generations of its fingerprint, from now on.

    Other processes follow within half a minute. Raises ConfigurationError where the alias has no generation
    of that fingerprint.
    """
    alias = services.settings.alias
    known = {one.fingerprint for one in services.ledger.generations.of_alias(alias)}
    if fitted.fingerprint not in known:
        raise ConfigurationError(
            f"The calibration was fitted for the fingerprint {fitted.fingerprint}, and no generation of "
            f"{alias} has it: they have {', '.join(sorted(known)) or 'none'}. Fit one for these."
        )
    services.ledger.calibrations.record(
        StoredCalibration(
            fingerprint=fitted.fingerprint,
            calibration=fitted.calibration.model_dump(mode="json"),
            questions=fitted.answerable + fitted.unanswerable,
            fitted_at=fitted.fitted_at,
        )
    )
    services.baselines.calibrations.forget()


def store(fitted: Fitted, services: Services, folder: Path) -> CalibrationFiles:
    """Write a calibration for review, and let it count. Raises what both raise."""
    files = write_files(fitted, folder)
    apply(fitted, services)
    return files


def forget(fingerprint: str, services: Services) -> bool:
    """Let the model's default count again; returns whether there was a calibration."""
    found = services.ledger.calibrations.forget(fingerprint)
    services.baselines.calibrations.forget()
    return found
