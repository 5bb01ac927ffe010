"""Stands for a command that the fork server runs: `forked_program.py SOCKET PROGRAM ARGUMENT...`.

Hands its own files, folder and environment over, passes signals on, and ends as the command ends. It imports as little
as it can, because it is started for each command.
"""

import array
import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH, signal.SIGUSR1)


def main(path: str, program: str, *arguments: str) -> None:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    files = array.array("i", [0, 1, 2])
    connection.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    wish = {
        "program": program,
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
    }
    connection.sendall(json.dumps(wish).encode() + b"\n")
    with connection.makefile("rb") as answers:
        pid = int(answers.readline())
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: os.kill(pid, number))
        # Readers of our output must see its end when the command has ended, and not wait for us.
        end_as(int(answers.readline() or -signal.SIGKILL))


def end_as(code: int) -> None:
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
