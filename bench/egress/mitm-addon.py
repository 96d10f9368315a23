"""What the gate does, as far as an addon of a few lines can: one credential in, one look at the body."""
import os

UPSTREAM = int(os.environ["UPSTREAM_PORT"])
TOKEN = os.environ["BENCH_TOKEN"]
SECRET = os.environ["BENCH_SECRET"].encode()


def server_connect(data):
    data.server.address = ("127.0.0.1", UPSTREAM)


def request(flow):
    flow.request.headers["authorization"] = "Bearer " + TOKEN
    if SECRET in (flow.request.content or b""):
        flow.kill()


def responseheaders(flow):
    flow.response.stream = True
