import pg from 'pg';
import { addressesOf } from './addresses.ts';
import { StorageUnavailable } from './errors.ts';

/** Time to find the host that accepts writes, in milliseconds, unless the connect timeout says. */
const FIND_TIMEOUT_MS = 10_000;

type Connected = (error: Error | null, client?: pg.Client) => void;

/**
 * A client of the driver that also takes an address with several hosts. It connects to the host that
 * accepts writes, like libpq with `target_session_attrs=read-write`, but asks all hosts at the same
 * time: a host that does not answer delays nothing. `connect` throws `StorageUnavailable` if no host
 * accepts writes.
 */
export class Client extends pg.Client {
  readonly #config: pg.ClientConfig;
  readonly #addresses: readonly string[];

  constructor(config: string | pg.ClientConfig = {}) {
    const given = typeof config === 'string' ? { connectionString: config } : config;
    const addresses = addressesOf(given.connectionString ?? '');
    super(addresses.length > 1 ? { ...given, connectionString: addresses[0] } : given);
    this.#config = given;
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
      const { host, port } = await findWritable(this.#config, this.#addresses);
      // The pool or a timeout has given this client up meanwhile.
      if (this.connection.stream.destroyed) throw new StorageUnavailable('connection given up');
      Object.assign(this, { host, port });
    }
    return super.connect();
  }
}

/** Destroys the connection, so that every pending query on it fails immediately. */
export function destroyConnection(client: pg.ClientBase): void {
  (
    client as unknown as { connection: { stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

/** Resolves to a client of the first host that answers and accepts writes; it is closed by then. */
async function findWritable(
  config: pg.ClientConfig,
  addresses: readonly string[],
): Promise<pg.Client> {
  const clients = addresses.map(
    (connectionString) => new pg.Client({ ...config, connectionString }),
  );
  const close = () => clients.forEach(destroyConnection);
  const timer = setTimeout(close, config.connectionTimeoutMillis ?? FIND_TIMEOUT_MS);
  try {
    return await Promise.any(clients.map(requireWritable));
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
async function requireWritable(client: pg.Client): Promise<pg.Client> {
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ transaction_read_only: string }>(
    'SHOW transaction_read_only',
  );
  if (rows[0]?.transaction_read_only !== 'off') throw new Error('read-only');
  return client;
}
