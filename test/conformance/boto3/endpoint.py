"""Current versions find the endpoint in the environment; those before 1.28 have to be told."""

import os

import boto3

BEFORE_ENVIRONMENT = tuple(int(part) for part in boto3.__version__.split(".")[:2]) < (1, 28)
options = {"endpoint_url": os.environ["AWS_ENDPOINT_URL"]} if BEFORE_ENVIRONMENT else {}
