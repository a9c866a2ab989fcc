import { type EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { addressesOf } from './addresses.ts';
import { StorageUnavailable } from './errors.ts';

/** Time to find the host that accepts writes, in milliseconds, unless the connect timeout says. */
const FIND_TIMEOUT_MS = 10_000;

/** Time for the other hosts to answer after one that accepts writes, in milliseconds. */
const COMPARE_TIMEOUT_MS = 200;

type Connected = (error: Error | null, client?: pg.Client) => void;

/** A host that accepts writes. Each promotion begins a timeline, so the highest is the newest. */
interface Writable {
  client: pg.Client;
  timeline: number;
}

/** What this process knows of an address with several hosts. */
interface Seen {
  timeline: number;
  /** The connections to a host, with its timeline. */
  open: Map<pg.Client, number>;
}

const seenOf = new Map<string, Seen>();

/**
 * A client of the driver that also takes an address with several hosts. It connects to the host that
 * accepts writes, like libpq with `target_session_attrs=read-write`, but asks all hosts at the same
 * time. If several accept writes, it takes the one that was promoted last; from then on, this process
 * uses no other. `connect` throws `StorageUnavailable` if no host can be used.
 */
export class Client extends pg.Client {
  readonly #config: pg.ClientConfig;
  readonly #addresses: readonly string[];

  constructor(config: string | pg.ClientConfig = {}) {
    const given = typeof config === 'string' ? { connectionString: config } : config;
    const addresses = addressesOf(given.connectionString ?? '');
    super(addresses.length > 1 ? { ...given, connectionString: addresses[0] } : given);
    this.#config = given;
    // The name of the process is how commands find it, so the address must not replace it.
    if (given.application_name !== undefined)
      (
        this as unknown as { connectionParameters: { application_name: string } }
      ).connectionParameters.application_name = given.application_name;
    this.#addresses = addresses;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const connecting = this.#connect();
    if (!callback) return connecting;
    connecting.then(() => callback(null, this), callback);
    return undefined;
  }

  async #connect(): Promise<pg.Client> {
    if (this.#addresses.length > 1) {
      const seen = getSeen(this.#config.connectionString ?? '');
      const { client, timeline } = await findWritable(this.#config, this.#addresses, seen);
      // The pool or a timeout has given this client up meanwhile.
      if (this.connection.stream.destroyed) throw new StorageUnavailable('connection given up');
      Object.assign(this, { host: client.host, port: client.port });
      seen.open.set(this, timeline);
      this.once('end', () => seen.open.delete(this));
    }
    return super.connect().catch(explainPassword);
  }
}

/** The driver's error for a missing password names a step of the protocol, not what is missing. */
function explainPassword(error: Error): never {
  if (/client password must be a (non-empty )?string/.test(error.message))
    throw new Error('The database server asks for a password, and its address has none');
  throw error;
}

/** Destroys the connection, so that every pending query on it fails immediately. */
export function destroyConnection(client: pg.ClientBase): void {
  (
    client as unknown as { connection: { stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

/** The parts of the driver's client that a request to cancel needs; its types do not declare them. */
interface CancellableClient {
  host: string;
  port: number;
  ssl: pg.ClientConfig['ssl'];
  processID: number;
  secretKey: number;
}

/**
 * Asks the server to cancel the statement that runs on a connection, over a short connection beside it,
 * as the protocol demands. Resolves when the server has taken the request, or after `ms` milliseconds,
 * and never rejects.
 */
export async function requestCancel(client: pg.ClientBase, ms: number): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as unknown as CancellableClient;
  const beside = new pg.Client({ host, port, ssl: ssl ?? false });
  const { connection } = beside as unknown as {
    connection: EventEmitter & {
      connect(port: number | string, host?: string): void;
      cancel(processID: number, secretKey: number): void;
    };
  };
  connection.on('error', () => undefined);
  connection.once(ssl ? 'sslconnect' : 'connect', () => connection.cancel(processID, secretKey));
  const timer = setTimeout(() => destroyConnection(beside), ms);
  const closed = once(connection, 'end');
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  await closed.catch(() => undefined);
  clearTimeout(timer);
  destroyConnection(beside);
}

function getSeen(address: string): Seen {
  const seen = seenOf.get(address) ?? { timeline: 0, open: new Map() };
  seenOf.set(address, seen);
  return seen;
}

/** Resolves to the host that accepts writes on the highest timeline; its client is closed by then. */
async function findWritable(
  config: pg.ClientConfig,
  addresses: readonly string[],
  seen: Seen,
): Promise<Writable> {
  const clients = addresses.map(
    (connectionString) => new pg.Client({ ...config, connectionString }),
  );
  const close = () => clients.forEach(destroyConnection);
  const timer = setTimeout(close, config.connectionTimeoutMillis ?? FIND_TIMEOUT_MS);
  try {
    const answers = clients.map((client) => askHost(client, seen));
    await Promise.any(answers);
    const all = Promise.allSettled(answers);
    await Promise.race([all, sleep(COMPARE_TIMEOUT_MS, undefined, { ref: false })]);
    return await Promise.any(answers.map(async (answer) => requireNewest(await answer, seen)));
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(
      ({ message, code }: NodeJS.ErrnoException, index) =>
        `${clients[index]?.host}:${clients[index]?.port}: ${message || code}`,
    );
    throw new StorageUnavailable(`no host accepts writes (${reasons.join('; ')})`);
  } finally {
    clearTimeout(timer);
    close();
  }
}

/** A standby is read-only, and so is a server or role that is set to `default_transaction_read_only`. */
async function askHost(client: pg.Client, seen: Seen): Promise<Writable> {
  client.on('error', () => undefined);
  await client.connect().catch(explainPassword);
  const { rows } = await client.query<{ timeline: string | null }>(
    `SELECT CASE current_setting('transaction_read_only') WHEN 'off'
       THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`,
  );
  if (!rows[0]?.timeline) throw new Error('read-only');
  const timeline = Number.parseInt(rows[0].timeline, 16);
  seen.timeline = Math.max(seen.timeline, timeline);
  for (const [older, its] of seen.open) if (its < seen.timeline) destroyConnection(older);
  return { client, timeline };
}

function requireNewest(writable: Writable, { timeline }: Seen): Writable {
  if (writable.timeline === timeline) return writable;
  throw new Error(
    `an old primary on timeline ${writable.timeline}, as timeline ${timeline} exists`,
  );
}
