import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../harness/free-port.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import type { Bench, BenchEnvironment } from './environment.ts';
import { requests } from './load.ts';
import type { Contender } from './pair.ts';
import { startServer } from './processes.ts';
import { addModerators, serviceOn, startWeb } from './service.ts';

const CONNECTIONS = 32;
export const NOTES = 30;
const MESSAGE = 'A note of the usual length, which says hello and what brought its author here.';
const beside = (path: string) => join(import.meta.dirname, path);

/** Compares the guestbook over HTTP with a bare Express handler, each in a separate process. */
export const guestbook: Bench = {
  name: 'guestbook',
  async prepare(setting) {
    const [{ base: ours }, { base: floor }] = await startBoth(setting);
    const aside = (aim: number, name: string, contender: Contender) => ({ aim, name, contender });
    return [
      {
        name: 'POST /api/guestbook',
        ours: posts(ours),
        floors: [aside(0.6, 'bare Express, one INSERT', posts(floor))],
      },
      {
        name: `GET /api/guestbook, ${NOTES} notes`,
        ours: reads(ours),
        floors: [aside(0.9, 'bare Express, the same bytes', reads(floor))],
      },
    ];
  },
};

interface Served {
  base: string;
  pid: number;
}

/** Starts the service and the floor, each in a separate process. */
export async function startBoth(setting: BenchEnvironment): Promise<[ours: Served, floor: Served]> {
  const ours = await startService(setting);
  return [ours, await startFloor(setting, await readPage(ours.base))];
}

export const reads = (base: string): Contender =>
  requests(`${base}/api/guestbook`, CONNECTIONS, { method: 'GET' });

export function posts(base: string): Contender {
  return requests(`${base}/api/guestbook`, CONNECTIONS, {
    method: 'POST',
    headers: { origin: base, 'content-type': 'application/json' },
    setupRequest: (request) => ({ ...request, body: JSON.stringify(newNote()) }),
  });
}

const newNote = () => ({ id: randomUUID(), name: 'Ada', message: MESSAGE });

/** Starts a web process with published notes. */
export async function startService(setting: BenchEnvironment): Promise<Served> {
  const service = await serviceOn(setting, await setting.database('migrated'));
  const { base } = service;
  const pid = await startWeb(setting, service);
  const moderator = await addModerators(service, 'Bench', 'moderator');
  await publishNotes(base, moderator.token);
  return { base, pid };
}

/** Fills the guestbook's first page. */
export async function publishNotes(base: string, token: string): Promise<void> {
  for (let count = 0; count < NOTES; count++) await publish(base, token);
}

async function publish(base: string, token: string): Promise<void> {
  const note = newNote();
  const json = { 'content-type': 'application/json' };
  await post(`${base}/api/guestbook`, { ...json, origin: base }, note);
  await post(
    `${base}/api/moderation/notes/${note.id}/decisions`,
    { ...json, authorization: `Bearer ${token}` },
    { action: 'approve', expected_version: 1 },
  );
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

async function readPage(base: string): Promise<string> {
  const answer = await fetch(`${base}/api/guestbook`);
  const text = await answer.text();
  const { entries } = JSON.parse(text) as { entries: unknown[] };
  if (entries.length !== NOTES) throw new Error(`${entries.length} notes instead of ${NOTES}`);
  return text;
}

async function startFloor(setting: BenchEnvironment, bytes: string): Promise<Served> {
  const { path, remove } = temporaryFolder('bench-floor');
  setting.onEnd(remove);
  const file = join(path, 'page.json');
  writeFileSync(file, bytes);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const args = [beside('floor-server.ts'), port, await setting.database('empty'), file];
  const pid = await startServer(setting, args, { NODE_ENV: 'production' }, base, '/livez');
  return { base, pid };
}
