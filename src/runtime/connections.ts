/**
 * The sockets of one port: how many, and how long each may take over what it is doing.
 *
 * - Node's own `headersTimeout`, `requestTimeout` and (on Bun) `keepAliveTimeout` do nothing for a socket that reaches
 *   the HTTP server through `emit('connection')`, so each socket has its deadline here, checked by one sweep.
 * - The front is a bare `net.Server`: cleartext HTTP/2 will share the port by looking at a socket's first bytes in
 *   `admit`, before it is given to an HTTP server (STACK.md tells how).
 */
import net from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { BodyPace } from './body-pace.ts';
import {
  ANSWER_WITHIN_MILLIS,
  BODY_PATIENCE_MILLIS,
  HEADERS_WITHIN_MILLIS,
  IDLE_WITHIN_MILLIS,
} from './limits.ts';

/** `working` has no deadline here: the handler ends every request by itself. */
export type ConnectionPhase = 'headers' | 'body' | 'working' | 'answering' | 'idle';

/** A body's is its patience (body-pace.ts). */
export type Deadlines = Readonly<Record<Exclude<ConnectionPhase, 'working'>, number>>;

export const DEADLINES_MILLIS: Deadlines = {
  headers: HEADERS_WITHIN_MILLIS,
  body: BODY_PATIENCE_MILLIS,
  answering: ANSWER_WITHIN_MILLIS,
  idle: IDLE_WITHIN_MILLIS,
};

export interface Connection {
  readonly socket: net.Socket;
  phase: ConnectionPhase;
  sinceMillis: number;
  /** Bytes read when it became idle: more means that the next request has begun. */
  idleBytesRead: number;
  /** Of the body that is being read, or was last. */
  pace: BodyPace | undefined;
  /** Requests read but not answered yet; more than one only when the client pipelines. */
  requests: number;
}

export interface ConnectionsOptions {
  readonly connectionsMax: number;
  readonly deadlinesMillis: Deadlines;
  readonly bodyBytesPerSecondMin: number;
  readonly sweepEveryMillis: number;
  /** A new socket within the bounds. */
  readonly admit: (connection: Connection) => void;
  /** A socket over the bound, or one that was too slow before it sent a whole request: say so and close it. */
  readonly refuse: (socket: net.Socket, reason: 'overloaded' | 'too-slow') => void;
}

export interface Connections {
  readonly front: net.Server;
  of(socket: net.Socket): Connection | undefined;
  enter(connection: Connection, phase: ConnectionPhase): void;
  count(): number;
  /** Ends the sockets nobody works for; those that are answering end by themselves. */
  closeIdle(): void;
  destroyAll(): void;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const deadlines = options.deadlinesMillis;
  const pace = { patienceMillis: deadlines.body, bytesPerSecondMin: options.bodyBytesPerSecondMin };
  const open = new Map<net.Socket, Connection>();
  // Without noDelay a small answer waits for the client's acknowledgement; keepAlive finds the peers that vanished
  // without a word while a long poll waits.
  const front = net.createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, accept);

  function accept(socket: net.Socket): void {
    socket.on('error', () => socket.destroy());
    if (open.size >= options.connectionsMax) {
      options.refuse(socket, 'overloaded');
      return;
    }
    const connection: Connection = {
      socket,
      phase: 'headers',
      sinceMillis: performance.now(),
      idleBytesRead: 0,
      pace: undefined,
      requests: 0,
    };
    open.set(socket, connection);
    socket.on('close', () => open.delete(socket));
    options.admit(connection);
  }

  function enter(connection: Connection, phase: ConnectionPhase): void {
    connection.phase = phase;
    connection.sinceMillis = performance.now();
    if (phase === 'idle') connection.idleBytesRead = connection.socket.bytesRead;
    if (phase === 'body')
      connection.pace = new BodyPace(pace, connection.sinceMillis, connection.socket.bytesRead);
  }

  function sweep(): void {
    const now = performance.now();
    for (const connection of open.values()) {
      if (connection.phase === 'working') continue;
      if (connection.phase === 'idle' && connection.socket.bytesRead > connection.idleBytesRead) {
        enter(connection, 'headers');
        continue;
      }
      const late =
        connection.phase === 'body'
          ? connection.pace?.isTooSlow(now, connection.socket.bytesRead)
          : now - connection.sinceMillis > deadlines[connection.phase];
      if (!late) continue;
      if (connection.phase === 'idle' || connection.phase === 'answering') connection.socket.destroy();
      else options.refuse(connection.socket, 'too-slow');
    }
  }

  const sweeping = setInterval(sweep, options.sweepEveryMillis);
  sweeping.unref();
  front.on('close', () => clearInterval(sweeping));

  return {
    front,
    of: (socket) => open.get(socket),
    enter,
    count: () => open.size,
    closeIdle: () => {
      for (const connection of open.values()) {
        const sending = connection.socket.bytesRead > connection.idleBytesRead;
        if (connection.phase === 'idle' && !sending) connection.socket.destroy();
      }
    },
    destroyAll: () => {
      for (const socket of open.keys()) socket.destroy();
    },
  };
}
