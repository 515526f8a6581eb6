/**
 * Every bound of the listeners, each with its reason. What clients whom nobody has authenticated can make a node hold:
 *
 * - bodies, `SMALL_BODIES_BYTES_MAX + LARGE_BODIES_BYTES_MAX` = 128 MiB, and one body more while its chunks are joined;
 * - sockets, 10,000 of some 10 KB = 100 MB;
 * - headers that are being sent, up to `CONNECTIONS_MAX × HEADER_BYTES_MAX` = 160 MB for `HEADERS_WITHIN_MILLIS`. Only
 *   a flood that fills this bound and the others together comes near the 512 MiB a node means to stay under.
 */

/**
 * One request body. A batch carries 1 MiB of content, and JSON may spell every character as a six-byte escape; the
 * rest is field names, receipt handles and base64 padding.
 */
export const BODY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * So much of each body counts as small, the rest as large: a receive, a delete or a common message is small throughout.
 * The two have budgets of their own because a signature can be verified only when its body is there: without that,
 * eight unsigned requests of 8 MiB that are never finished would lock everybody out.
 */
export const SMALL_BODY_BYTES = 64 * 1024;

/**
 * The small parts of all bodies that are being read or worked on; beyond it requests get a retryable 503. 1,024 bodies
 * fill it at the least, and each must keep the pace below, so locking out small requests takes a flood, not a handful
 * of sockets.
 */
export const SMALL_BODIES_BYTES_MAX = 64 * 1024 * 1024;

/** The large parts of all bodies: eight bodies of the largest kind at one time; beyond it large requests get the 503. */
export const LARGE_BODIES_BYTES_MAX = 64 * 1024 * 1024;

/** Request line and headers together. Presigned session tokens reach 4 KiB, a presigned query URL twice that. */
export const HEADER_BYTES_MAX = 16 * 1024;

/**
 * Sockets at one time. Long polls hold one each, and asynchronous clients open about fifty; a socket costs some 10 KB,
 * so this is about 100 MB at worst.
 */
export const CONNECTIONS_MAX = 10_000;

/** Requests of one connection that wait for answers: no SQS client pipelines, and each may hold a body. */
export const PIPELINED_REQUESTS_MAX = 16;

/** The health port is for probes and scrapers alone. */
export const HEALTH_CONNECTIONS_MAX = 100;

/** From the first byte of a request (or from accept) to the end of its headers: slow senders hold a socket no longer. */
export const HEADERS_WITHIN_MILLIS = 10_000;

/**
 * The pace a body must keep: 1 MiB in half a minute, as a client sends it over a line of a third of a Mbit/s. Each byte
 * buys time at this rate.
 */
export const BODY_BYTES_PER_SECOND_MIN = 35_000;

/**
 * What a body may be behind its pace, and so how long it may pause: TCP's retransmissions after a lost packet or two
 * take seconds. No body saves up more, so one that came fast and then stalls or drips ends as soon as any other.
 */
export const BODY_PATIENCE_MILLIS = 10_000;

/**
 * A kept-alive connection with nothing to do. Longer than the idle pools of clients and load balancers (botocore and
 * the JavaScript SDK keep sockets up to 60 s, AWS's balancers 60 s): whoever closes first decides who sees a reset,
 * and it must not be us, while a request is already under way to us.
 */
export const IDLE_WITHIN_MILLIS = 75_000;

/** A client that doesn't read its answer: 10 messages of 1 MiB in a minute is 170 KB/s. */
export const ANSWER_WITHIN_MILLIS = 60_000;

/** How often sockets are looked at; deadlines are late by at most this. One sweep costs a microsecond a socket. */
export const SWEEP_EVERY_MILLIS = 1_000;

/** A supervisor's usual patience after SIGTERM is 10 s; what has not ended by then is cut off by us, with a word in the log. */
export const STOP_WITHIN_MILLIS = 9_500;
/** Of that, what answers under way get; the rest is for the last commits and the store. */
export const DRAIN_WITHIN_MILLIS = 7_500;

/** Store requests failing for longer than this take the node out of rotation. */
export const STORE_FAILED_AFTER_MILLIS = 30_000;

/** While the store fails, it is asked this often whether it is back: a PUT or a LIST costs $0.000005. */
export const STORE_ASKED_EVERY_MILLIS = 5_000;

/** Nothing failed for so long: the log says that it is over. Two questions long, so that one lucky answer isn't it. */
export const STORE_QUIET_AFTER_MILLIS = 10_000;

if (LARGE_BODIES_BYTES_MAX < 2 * BODY_BYTES_MAX)
  throw new RangeError('one large body must not lock out all other large ones');
if (SMALL_BODIES_BYTES_MAX < 1_000 * SMALL_BODY_BYTES)
  throw new RangeError('a handful of sockets must not lock out small requests');
if (
  STORE_QUIET_AFTER_MILLIS <= STORE_ASKED_EVERY_MILLIS ||
  STORE_FAILED_AFTER_MILLIS <= STORE_QUIET_AFTER_MILLIS
)
  throw new RangeError(
    'a failing store must be asked before it counts as quiet, and be quiet sooner than failed',
  );
