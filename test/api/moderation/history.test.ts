import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { startService } from '../../support/service.ts';

interface Event {
  event_id: string;
  type: string;
  version: number;
  text: string | null;
}

t.test('returns a long history in pages', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { message: 'Hello' });
  const record = await publishArtifact(await newAgent(service));
  const reporter = await newAgent(service);
  const subjects = [`subjects/note/${note.id}`, `subjects/artifact/${record.id}`];
  for (let count = 1; count <= 210; count++) {
    if (count === 150) t.equal((await decide(ann, note.id, 'approve')).status, 201);
    for (const subject of subjects)
      await ann.post(`${subject}/comments`, { text: `Comment ${count}` });
  }
  await report(reporter, record);

  for (const path of [...subjects, `notes/${note.id}`]) {
    const pages: Event[][] = [];
    for (let before: string | null = ''; before !== null; ) {
      const { status, body } = await ann.get(before ? `${path}?history_before=${before}` : path);
      t.equal(status, 200, path);
      t.equal(
        body.item.id ?? body.item.subject.id,
        path.includes('artifact') ? record.id : note.id,
      );
      pages.unshift(body.history);
      before = body.history_before;
    }
    t.same(
      pages.map(({ length }) => length),
      [pages[0]?.length, 100, 100],
      path,
    );
    const events = pages.flat();
    t.equal(new Set(events.map(({ event_id }) => event_id)).size, events.length, 'each once');
    t.same(
      events.filter(({ type }) => type === 'CommentAdded').map(({ text }) => text),
      Array.from({ length: 210 }, (_, before) => `Comment ${before + 1}`),
    );
    if (path.includes('artifact')) continue;
    const approved = events.findIndex(({ type }) => type === 'NoteApproved');
    t.ok(
      events.every(({ version }, at) => version === (at < approved ? 1 : 2)),
      'each event of a note has the version that the note had then',
    );
  }
});

t.test('refuses a place in the history of another item', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const [one, other] = [await submit(service), await submit(service)];
  for (let count = 1; count <= 100; count++)
    await ann.post(`subjects/note/${other.id}/comments`, { text: `Comment ${count}` });
  const { history, history_before } = (await ann.get(`notes/${other.id}`)).body;
  for (const path of [`notes/${one.id}`, `subjects/note/${one.id}`])
    for (const before of [history_before, history[0].event_id, one.id, 'x']) {
      const { status, body } = await ann.get(`${path}?history_before=${before}`);
      t.match({ status, body }, { status: 400, body: { status: 'invalid_cursor' } }, before);
    }
  t.equal((await ann.get(`notes/${one.id}`)).body.history_before, null);
  const { body } = await ann.get(`notes/${other.id}?history_before=${history_before}`);
  t.match(body, { history: [{ type: 'NoteSubmitted' }], history_before: null });
});
