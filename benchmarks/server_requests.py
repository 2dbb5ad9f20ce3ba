"""How many requests a Qdrant server answered, by its own count."""

import http.client
import re
from collections import Counter
from urllib.parse import urlsplit

from rag_pipeline.index.store import StoreLocation

_RESPONSES = re.compile(r'^grpc_responses_total\{endpoint="/qdrant\.Points/(\w+)".*\} (\d+)$', re.MULTILINE)


def point_requests(server: StoreLocation) -> Counter[str]:
    """The requests that read or wrote points since the server started, by gRPC method."""
    connection = http.client.HTTPConnection(urlsplit(server.url or "").netloc, timeout=30)
    try:
        connection.request("GET", "/metrics")
        metrics = connection.getresponse().read().decode()
    finally:
        connection.close()
    counts: Counter[str] = Counter()
    for method, count in _RESPONSES.findall(metrics):
        counts[method] += int(count)
    return counts
