"""The one Definitions object that Dagster loads."""

from rag_pipeline.orchestration.building import build_definitions
from rag_pipeline.pipeline import Pipeline
from rag_pipeline.services import Services
from rag_pipeline.settings import load_settings

defs = build_definitions(Pipeline(Services(load_settings())))
