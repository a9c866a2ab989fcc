import pg from 'pg';

/**
 * Splits an address with several hosts, `postgres://user@host1:5432,host2:5433/database`, into one
 * address for each host. An address with one host is returned as it is.
 */
export function addressesOf(url: string): string[] {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => before + host + after) : [url];
}

const ADVICE =
  'use sslmode=verify-full, with sslrootcert for an authority of your own, or sslmode=disable';

const UNVERIFIED = `must not have an sslmode that accepts any server: ${ADVICE}`;

/**
 * What is wrong with the TLS parameters of an address: with some, the driver would connect to a server that it has
 * not verified, or without TLS although it was asked for. Asks the driver what it makes of the address, because
 * parameters combine and repeat.
 */
export function tlsFault(url: string): string | undefined {
  for (const address of addressesOf(url)) {
    if (!URL.canParse(address)) continue;
    const modes = new URL(address).searchParams.getAll('sslmode');
    if (modes.some((mode) => mode === 'allow' || mode === 'prefer')) return UNVERIFIED;
    try {
      if (isUnverified(new pg.Client({ connectionString: address }).ssl)) return UNVERIFIED;
    } catch (error) {
      return `has TLS parameters that cannot be used: ${(error as Error).message}`;
    }
  }
  return undefined;
}

/** The same for PGSSLMODE, which the driver reads for addresses without these parameters. */
export const tlsFaultOfEnvironment = (env: Record<string, string | undefined>) =>
  ['no-verify', 'allow', 'prefer'].includes(env.PGSSLMODE ?? '')
    ? `PGSSLMODE must not accept any server: ${ADVICE} in DATABASE_URL`
    : undefined;

/** In the driver's mode that is compatible with libpq, `checkServerIdentity` may accept any name. */
function isUnverified(ssl: unknown): boolean {
  if (typeof ssl !== 'object' || ssl === null) return false;
  const { rejectUnauthorized, checkServerIdentity } = ssl as Record<string, unknown>;
  return rejectUnauthorized === false || checkServerIdentity !== undefined;
}
