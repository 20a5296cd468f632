"""aiosmtpd as a provider runs it: STARTTLS before anything else, and a password.

Usage: mail_server.py CERTIFICATE KEY USER PASSWORD MAILDIR. Prints the port it listens at.
"""

import socket
import ssl
import sys
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import AuthResult


def main() -> None:
    certificate, key, user, password, maildir = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    # Somebody may take the port before the server does; then it says so and the test fails.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def authenticate(_server, _session, _envelope, _mechanism, given):
        is_known = (given.login, given.password) == (user.encode(), password.encode())
        return AuthResult(success=is_known, handled=False)

    controller = Controller(
        Mailbox(maildir),
        hostname="127.0.0.1",
        port=port,
        server_hostname="localhost",
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=authenticate,
    )
    controller.start()
    print(port, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
