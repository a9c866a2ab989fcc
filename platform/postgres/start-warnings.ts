import type { Sql } from '../sql.ts';
import { compareClocks } from './clock.ts';
import { clientConfig, withConnection } from './connection.ts';
import { isPooled } from './pooler.ts';

/**
 * Faults around a process that do not keep it from serving, one sentence each: a pooler at `directUrl`, the
 * address of the setting `name`, through which no notification arrives; and a clock that differs. None if the
 * database cannot be reached. docs/operating/doctor.md says more about both.
 */
export async function startWarnings(directUrl: string, name: string): Promise<string[]> {
  const config = { ...clientConfig(directUrl, 'service start'), query_timeout: 2000 };
  return withConnection(config, async (client) => {
    const ask = async <Row>({ text, values }: Sql<Row>) =>
      (await client.query(text, values)).rows as Row[];
    const pooled = await isPooled(client);
    const clocks = await compareClocks(ask);
    return [
      ...(pooled
        ? [
            `${name} leads through a pooler, which passes no notifications on: updates come up to two seconds late, and jobs need a direct connection: set DATABASE_DIRECT_URL to one`,
          ]
        : []),
      ...(clocks.differs ? [clocks.text] : []),
    ];
  }).catch(() => []);
}
