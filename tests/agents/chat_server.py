"""A server of chat completions on loopback that answers as a test says, over real HTTP."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def say(text):
    """An answer with `text` as its first choice."""
    return {
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 7, "total_tokens": 1007},
    }


def choose(action):
    return say(json.dumps({"action": action}))


class ChatServer:
    """Answers requests by `reply`: a function of the request's body and its number, from 0.

    It returns the answer as JSON, (status, headers, body), or one of "hang" (until the server closes) and
    "drop" (the connection). `asked` holds the bodies, `headers` the headers of all requests.
    """

    def __init__(self, reply=lambda body, number: choose("move_forward")):
        self.reply, self.asked, self.headers = reply, [], []
        self.released, lock = threading.Event(), threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):
                body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
                with lock:
                    number = len(self.asked)
                    self.asked.append(body)
                    self.headers.append(dict(handler.headers))
                said = self.reply(body, number)
                if said == "hang":
                    self.released.wait()
                if said in ("hang", "drop"):
                    handler.close_connection = True
                    return
                status, headers, data = (
                    said if isinstance(said, tuple) else (200, {}, json.dumps(said).encode())
                )
                handler.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    handler.send_header(name, value)
                handler.end_headers()
                handler.wfile.write(data)

            def log_message(handler, *parts):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self):
        """Stop answering; safe to call twice."""
        self.released.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
