"""Plays one part of script.json with boto3, as it signs at a given time and draws its invocation ids from a seed.

python session.py SCRIPT PART. Every call is made a second after the one before; `wait` moves the clock further.
"""

import base64
import datetime
import json
import os
import platform
import random
import re
import sys
import urllib.error
import urllib.request
import uuid

START = datetime.datetime(2027, 1, 15, 8, 1, tzinfo=datetime.timezone.utc)
moment = START
Real = datetime.datetime


class Clock(Real):
    """What botocore finds under the name `datetime.datetime`."""

    @classmethod
    def now(cls, tz=None):
        return moment.astimezone(tz)

    @classmethod
    def utcnow(cls):
        return moment.replace(tzinfo=None)


datetime.datetime = Clock
draws = random.Random(6)
uuid.uuid4 = lambda: uuid.UUID(int=draws.getrandbits(128), version=4)
# The one part of User-Agent that names the machine.
platform.release = lambda: "0"

import boto3  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402

names = {}


def client(keys=None):
    options = {} if keys is None else {"aws_access_key_id": keys["accessKeyId"], "aws_secret_access_key": keys["secretAccessKey"]}
    # Versions of the query protocol take no endpoint from the environment.
    return boto3.client("sqs", endpoint_url=os.environ["AWS_ENDPOINT_URL"], **options)


def filled(value, key=None):
    if isinstance(value, dict):
        return {name: filled(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each) for each in value]
    if key == "BinaryValue":
        return base64.b64decode(value)
    return re.sub(r"\$\{(\w+)\}", lambda match: names[match[1]], value) if isinstance(value, str) else value


def at(answer, path):
    for part in path.split("."):
        answer = answer[int(part) if part.isdigit() else part]
    return answer


def parameters(sqs, action, given):
    known = sqs.meta.service_model.operation_model(action).input_shape.members
    return {"AttributeNames" if name == "MessageSystemAttributeNames" and name not in known else name: value for name, value in given.items()}


def call(action, given, options):
    sqs = client(options.get("as"))
    given = parameters(sqs, action, filled(given))
    method = re.sub(r"(?<!^)([A-Z])", r"_\1", action).lower()
    try:
        if options.get("presigned"):
            url = sqs.generate_presigned_url(method, Params=given, HttpMethod="GET")
            urllib.request.urlopen(url).read()
            answer = {}
        else:
            answer = getattr(sqs, method)(**given)
    except (ClientError, urllib.error.HTTPError) as error:
        if not options.get("refused"):
            raise
        print(f"{action}: {error}")
        return
    if options.get("refused"):
        sys.exit(f"{action} {given} was not refused")
    for name, path in options.get("save", {}).items():
        names[name] = at(answer, path)
    print(action)


with open(sys.argv[1], encoding="utf-8") as file:
    steps = json.load(file)[sys.argv[2]]
for action, given, *options in steps:
    if action == "wait":
        moment += datetime.timedelta(seconds=given)
        continue
    moment += datetime.timedelta(seconds=1)
    call(action, given, options[0] if options else {})
