"""One line a check on standard output; the first wrong answer ends the program with status 1."""

import sys

from botocore.exceptions import ClientError


def check(what, holds, seen=None):
    if not holds:
        print(f"FAILED {what}: saw {seen!r}", flush=True)
        sys.exit(1)
    print(f"ok {what}", flush=True)


def check_equal(what, seen, expected):
    check(what, seen == expected, seen)


def check_refused(what, call, code, exception=None):
    """The call must be refused with the error code, and as the exception class that a program would name."""
    try:
        answer = call()
    except ClientError as error:
        check(what, error.response["Error"]["Code"] == code, error.response)
        if exception is not None:
            check(f"{what}, as {exception.__name__}", isinstance(error, exception), type(error))
        return
    check(what, False, answer)
