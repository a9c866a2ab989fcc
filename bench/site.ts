import { withConnection } from '../platform/postgres/connection.ts';
import type { Bench, BenchEnvironment } from './environment.ts';
import { publishNotes, reads } from './guestbook.ts';
import { seedLists } from './lists.ts';
import { requests } from './load.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';

const CONNECTIONS = 32;
/** How many members, packets and cases there are. */
const RECORDS = 1000;

/** Compares the pages that people open with the guestbook's notes as JSON, from the same process. */
export const site: Bench = {
  name: 'site',
  async prepare(setting) {
    const { base, pages } = await startSite(setting);
    const aside = (aim: number) => ({ aim, name: 'GET /api/guestbook', contender: reads(base) });
    return pages.map(({ name, path, headers }) => ({
      name: `GET ${name}`,
      ours: requests(base + path, CONNECTIONS, { method: 'GET', headers }),
      floors: [aside(0.6)],
    }));
  },
};

interface ShownPage {
  name: string;
  path: string;
  headers: Record<string, string>;
}

/** Starts a web process whose public pages are full, of this or of another checkout. */
export async function startSite(
  setting: BenchEnvironment,
): Promise<{ base: string; pages: ShownPage[] }> {
  const url = await setting.database('migrated');
  await seedLists(url, RECORDS);
  const service = await serviceOn(setting, url);
  const { base } = service;
  await startWeb(setting, service);
  const moderator = await addModerators(service, 'Bench', 'moderator');
  await publishNotes(base, moderator.token);
  const [ids] = await withConnection(url, async (client) => {
    const { rows } = await client.query<{ note: string; record: string }>(
      `SELECT (SELECT note_id FROM notes WHERE state = 'approved' LIMIT 1) AS note,
        (SELECT case_id FROM cases LIMIT 1) AS record`,
    );
    return rows;
  });
  const page = (name: string, path = name, headers = {}) => ({ name, path, headers });
  return {
    base,
    pages: [
      page('/'),
      page('/, as brotli', '/', { 'accept-encoding': 'br' }),
      page('/notes/{id}', `/notes/${ids?.note}`),
      page('/cases'),
      page('/cases/{id}', `/cases/${ids?.record}`),
      page('/guestbook/service.atom'),
    ],
  };
}
