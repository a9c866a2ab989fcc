import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { publishCase } from '../../../harness/records.ts';
import { type Service, startService } from '../../support/service.ts';
import { recordStatements } from '../../support/statements.ts';

const READERS = 50;

async function publish(service: Service, moderator: Moderator, more: object): Promise<string> {
  const { id } = await submit(service, more);
  await decide(moderator, id, 'approve');
  return id;
}

t.test('shares the reads and the bytes of a page among concurrent readers', async (t) => {
  const statements = recordStatements(t);
  const service = await startService(t);
  const moderator = await addModerator(service, 'Mo');
  const id = await publish(service, moderator, { message: 'Shared by many' });
  await publishCase(await newAgent(service), 'A shared case');
  for (const path of ['/', `/notes/${id}`, '/cases', '/cases.atom', '/activity']) {
    statements.clear();
    const pages = await Promise.all(
      Array.from({ length: READERS }, () => service.call('GET', path)),
    );
    t.same(new Set(pages.map(({ status }) => status)), new Set([200]), path);
    t.equal(new Set(pages.map(({ text }) => text)).size, 1, path);
    const sent = [...statements.values()].reduce((sum, { times }) => sum + times, 0);
    t.ok(sent < READERS, `${path}: ${sent} statements for ${READERS} readers`);
  }
});

t.test('shows each reader what was decided before they asked', async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'Mo');
  const shown = async (path: string, text: string) => {
    const pages = await Promise.all([1, 2, 3].map(() => service.call('GET', path)));
    return pages.map((page) => page.text.includes(text));
  };
  for (let round = 0; round < 5; round++) {
    const message = `Round ${round} ${randomUUID()}`;
    const id = await publish(service, moderator, { message });
    for (const path of ['/', '/guestbook/service.atom', `/notes/${id}`])
      t.same(await shown(path, message), [true, true, true], path);
    await publish(service, moderator, {
      message: `Reply ${message}`,
      parent_id: id,
    });
    t.same(await shown(`/notes/${id}`, `Reply ${message}`), [true, true, true], 'a reply');
    t.match((await service.call('GET', '/')).text, '1 reply', 'the number of replies');
  }
});

t.test('keeps pages of different addresses apart', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await publishCase(agent, 'An open case');
  const paths = [
    '/cases',
    '/cases?state=open',
    '/cases?state=accepted',
    '/cases.atom',
    '/cases.json',
  ];
  const read = async () => {
    const pages = await Promise.all(paths.map((path) => service.call('GET', path)));
    return pages.map(({ text }) => text);
  };
  const first = await read();
  t.equal(new Set(first).size, paths.length);
  t.match(first[1], 'An open case');
  t.notMatch(first[2], 'An open case');
  t.same(await read(), first);
});
