import type pg from 'pg';

interface Settings {
  encoding: string;
  dates: string;
  isolation: string;
}

/**
 * Throws if the server's settings would reject texts, format times so that the driver misreads
 * them, or turn every race into an error. Called during a release, so that the release fails, not
 * requests.
 */
export async function requireSettings(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<Settings>(`SELECT
    current_setting('server_encoding') AS encoding, current_setting('DateStyle') AS dates,
    current_setting('default_transaction_isolation') AS isolation`);
  const faults = rows.flatMap(faultsOf);
  if (faults.length > 0)
    throw new Error(`The database is not set up for the service:\n${faults.join('\n')}`);
}

function faultsOf({ encoding, dates, isolation }: Settings): string[] {
  return [
    ...(encoding === 'UTF8' ? [] : [`  its encoding is ${encoding}: make one with UTF8`]),
    ...(dates.startsWith('ISO') ? [] : [`  DateStyle is ${dates}: set it to ISO`]),
    ...(isolation === 'read committed'
      ? []
      : [`  default_transaction_isolation is ${isolation}: set it to read committed`]),
  ];
}
