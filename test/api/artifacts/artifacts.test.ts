import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { brief, changed, handoff, result } from '../../../harness/packets.ts';
import { patient } from '../../../harness/patient.ts';
import { contentHash } from '../../../platform/json.ts';
import { rebuild } from '../../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../../services/features.ts';
import { matchAll } from '../../support/match-all.ts';
import { startService } from '../../support/service.ts';

const ARTIFACTS = '/api/v1/artifacts';

const publish = (agent: Agent, packet: unknown, headers?: Record<string, string>) =>
  agent.call('POST', ARTIFACTS, packet, headers);

t.test('publishes each kind of packet and returns it unchanged', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  for (const packet of [handoff(), brief(), result()]) {
    const published = await publish(ada, packet);
    t.equal(published.status, 201, published.text);
    const { artifact, receipt } = published.body;
    t.equal(published.body.status, 'published');
    t.equal(receipt.operation, 'artifact.publish');
    t.match(artifact.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    t.equal(artifact.author_id, ada.id);
    t.match(artifact.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.equal(artifact.content_hash, contentHash(packet));
    const read = await service.call('GET', `${ARTIFACTS}/${artifact.id}`);
    t.equal(read.text, JSON.stringify({ artifact }));
    t.equal(JSON.stringify(read.body.artifact.packet), JSON.stringify(packet));
    t.same(Object.keys(read.body.artifact), [
      'id',
      'author_id',
      'created_at',
      'content_hash',
      'packet',
    ]);
  }
});

t.test('keeps names that JSON escapes, after a name that is a backslash', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  for (const name of ['\\', '"', '\n', 'a"b', 'a\\', 'a\n']) {
    const packet = changed(handoff(), 'content.attribution', { a: 'first', [name]: 'second' });
    const published = await publish(ada, packet);
    t.equal(published.status, 201, published.text);
    // Compare the text, because a parser may get these names wrong.
    const { id } = published.body.artifact;
    const { text } = await service.call('GET', `${ARTIFACTS}/${id}`);
    t.ok(text.includes(JSON.stringify(packet)), JSON.stringify(name));
    t.ok(text.includes(`"content_hash":"${contentHash(packet)}"`));
  }
});

t.test('revalidates a read by the content hash, for any caller', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const { artifact } = (await publish(ada, brief())).body;
  const path = `${ARTIFACTS}/${artifact.id}`;
  const read = await service.call('GET', path);
  t.equal(read.headers.get('etag'), `"${artifact.content_hash}"`);
  t.equal(read.headers.get('cache-control'), 'public, max-age=0, must-revalidate');
  t.equal(read.headers.get('access-control-allow-origin'), '*');
  const tag = `"${artifact.content_hash}"`;
  for (const tags of [tag, `"x", ${tag}`, `W/${tag}`, ' * ']) {
    const same = await service.call('GET', path, { headers: { 'if-none-match': tags } });
    t.equal(same.status, 304, tags);
    t.equal(same.text, '');
  }
  t.equal((await service.call('GET', path, { headers: { 'if-none-match': '"x"' } })).status, 200);
  const head = await service.call('HEAD', path);
  t.equal(head.headers.get('etag'), `"${artifact.content_hash}"`);
  t.equal(
    (await service.call('GET', path.toUpperCase().replace('/API/V1/ARTIFACTS', ARTIFACTS))).status,
    200,
  );
  t.equal((await service.call('GET', `${ARTIFACTS}/${randomUUID()}`)).status, 404);
  t.equal((await service.call('GET', `${ARTIFACTS}/no`)).status, 400);
  t.equal((await service.call('GET', `${path}?a=1`)).body.status, 'query_not_allowed');
});

t.test('answers an exact retry with the first response, byte for byte', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const packet = { ...brief(), '': undefined };
  const key = { 'idempotency-key': randomUUID() };
  const [first, ...rest] = await Promise.all(
    Array.from({ length: 4 }, () => publish(ada, packet, key)),
  );
  for (const answer of rest) t.equal(answer.text, first?.text);
  const replayed = [first, ...rest].filter((answer) => answer?.headers.get('idempotency-replayed'));
  t.equal(replayed.length, 3);
  t.equal((await publish(ada, brief({ title: 'Other' }), key)).body.status, 'idempotency_conflict');
  const withdraw = `${ARTIFACTS}/${first?.body.artifact.id}/withdraw`;
  t.equal((await ada.call('POST', withdraw, {}, key)).body.status, 'idempotency_conflict');
  const { rows } = await service.database.pool.query('SELECT count(*)::int AS n FROM artifacts');
  t.equal(rows[0].n, 1);
  const again = { 'idempotency-key': randomUUID() };
  const withdrawn = await ada.call('POST', withdraw, {}, again);
  t.equal((await ada.call('POST', withdraw, {}, again)).text, withdrawn.text);
});

t.test('accepts one of twenty packets that supersede the same one', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(patient(service));
  const first = (await publish(ada, brief())).body.artifact;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      publish(ada, brief({ title: `Next ${index}`, supersedes_id: first.id })),
    ),
  );
  const winners = answers.filter(({ status }) => status === 201);
  t.equal(winners.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    t.equal(answer.status, 409);
    t.match(answer.body.error, { code: 'state_conflict', reason: 'supersedes_unavailable' });
  }
  const [winner] = winners;
  t.equal(winner?.body.artifact.packet.supersedes_id, first.id);
  t.equal(winner?.body.receipt.event_ids.length, 2);
  const { rows } = await service.database.pool.query(
    `SELECT type, subject_id, data FROM feed WHERE type LIKE 'artifact.%' ORDER BY sequence`,
  );
  matchAll(t, rows, [
    {
      type: 'artifact.published',
      subject_id: first.id,
      data: { kind: 'brief', supersedes_id: null },
    },
    {
      type: 'artifact.published',
      subject_id: winner?.body.artifact.id,
      data: { kind: 'brief', supersedes_id: first.id },
    },
    {
      type: 'artifact.superseded',
      subject_id: first.id,
      data: { superseded_by: winner?.body.artifact.id },
    },
  ]);
  t.equal((await service.call('GET', `${ARTIFACTS}/${first.id}`)).status, 200);
});

t.test('lets an author supersede only an own packet, also a withdrawn one', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  const theirs = (await publish(bob, brief())).body.artifact;
  const withdrawn = (await publish(ada, brief())).body.artifact;
  await ada.call('POST', `${ARTIFACTS}/${withdrawn.id}/withdraw`, {});
  for (const supersedes_id of [theirs.id, randomUUID()]) {
    const answer = await publish(ada, brief({ supersedes_id }));
    t.equal(answer.body.error.reason, 'supersedes_unavailable');
  }
  const instead = await publish(ada, brief({ supersedes_id: withdrawn.id }));
  t.equal(instead.status, 201, instead.text);
  const twice = await publish(ada, brief({ supersedes_id: withdrawn.id }));
  t.equal(twice.body.error.reason, 'supersedes_unavailable');
  t.equal((await service.call('GET', `${ARTIFACTS}/${withdrawn.id}`)).status, 410);
  const own = (await publish(ada, brief())).body.artifact;
  const upperCaseId = await publish(ada, brief({ supersedes_id: own.id.toUpperCase() }));
  t.equal(upperCaseId.body.artifact.packet.supersedes_id, own.id);
  t.equal(upperCaseId.body.artifact.content_hash, contentHash(upperCaseId.body.artifact.packet));
});

t.test('lets only its author withdraw a packet, which is then gone', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  const { artifact } = (await publish(ada, brief())).body;
  const path = `${ARTIFACTS}/${artifact.id}`;
  const refused = await bob.call('POST', `${path}/withdraw`, {});
  t.equal(refused.status, 409);
  t.equal(refused.body.error.reason, 'not_author');
  const withdrawn = await ada.call('POST', `${path}/withdraw`, {});
  t.equal(withdrawn.status, 200);
  t.match(withdrawn.body, { status: 'withdrawn', id: artifact.id });
  const gone = await service.call('GET', path);
  t.equal(gone.status, 410);
  t.equal(gone.body.status, 'gone');
  const twice = await ada.call('POST', `${path}/withdraw`, {});
  t.match(twice.body.error, { reason: 'wrong_state', current_state: 'withdrawn' });
  t.equal((await ada.call('POST', `${ARTIFACTS}/${randomUUID()}/withdraw`, {})).status, 404);
  t.equal((await ada.call('POST', `${ARTIFACTS}/no/withdraw`, {})).status, 400);
  t.same((await service.call('GET', ARTIFACTS)).body.artifacts, []);
});

t.test('lists packets newest first, by author, kind and page', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  const all: { id: string; author: string; kind: string }[] = [];
  for (let index = 0; index < 12; index++) {
    const [agent, packet] = [index % 3 ? ada : bob, index % 2 ? brief() : result()];
    const { artifact } = (await publish(agent, packet)).body;
    all.unshift({ id: artifact.id, author: agent.id, kind: packet.kind });
  }
  const listed = async (search: string) => {
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const more: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const page = await service.call('GET', `${ARTIFACTS}?limit=2${search}${more}`);
      t.ok(page.body.artifacts.length <= 2);
      ids.push(...page.body.artifacts.map(({ id }: { id: string }) => id));
      cursor = page.body.next_cursor;
    }
    return ids;
  };
  const where = (fits: (one: (typeof all)[number]) => boolean) =>
    all.filter(fits).map(({ id }) => id);
  t.same(
    await listed(''),
    where(() => true),
  );
  t.same(
    await listed(`&author_id=${ada.id}`),
    where(({ author }) => author === ada.id),
  );
  t.same(
    await listed('&kind=result'),
    where(({ kind }) => kind === 'result'),
  );
  t.same(
    await listed(`&author_id=${bob.id.toUpperCase()}&kind=brief`),
    where(({ author, kind }) => author === bob.id && kind === 'brief'),
  );
  const first = await service.call('GET', `${ARTIFACTS}?limit=1`);
  t.equal(first.body.status, 'ok');
  t.same(Object.keys(first.body.artifacts[0]), [
    'id',
    'author_id',
    'title',
    'kind',
    'created_at',
    'content_hash',
  ]);
  for (const search of ['kind=other', 'author_id=ada', 'cursor=abc', 'limit=0', 'state=published'])
    t.equal((await service.call('GET', `${ARTIFACTS}?${search}`)).status, 400, search);
  await ada.call('POST', '/api/v1/me/profile', {
    display_name: 'Ada',
    summary: 'Counts',
    links: [],
    capabilities: [],
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  });
  const agent = await service.call('GET', `/api/v1/agents/${ada.id}`);
  t.equal(agent.body.agent.counts.artifacts, 8);
});

t.test('requires the publish scope and an open API', async (t) => {
  const service = await startService(t, { API_OPEN: 'false' });
  const reader = await newAgent(service, ['profile:write']);
  const refused = await publish(reader, brief());
  t.match(refused.body.error, { code: 'scope_required', scope: 'artifact:publish' });
  const ada = await newAgent(service);
  const path = `${ARTIFACTS}/${randomUUID()}`;
  for (const [method, url, body] of [
    ['POST', ARTIFACTS, brief()],
    ['POST', `${path}/withdraw`, {}],
    ['GET', ARTIFACTS],
    ['GET', path],
  ] as const)
    t.equal((await ada.call(method, url, body)).body.status, 'api_disabled');
});

t.test('keeps the order of members in a rebuild and accepts the maximum size', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const bytes = 256 * 1024;
  const big = handoff();
  const note = (length: number) => 'x'.repeat(length);
  big.content.acceptance_criteria = Array.from({ length: 30 }, () => note(8000));
  big.content.author_example = '';
  const room = bytes - JSON.stringify(big).length;
  big.content.scope.permitted = Array.from({ length: Math.floor(room / 8003) }, () => note(8000));
  big.content.author_example = note(bytes - JSON.stringify(big).length);
  t.equal(JSON.stringify(big).length, bytes);
  const published = await publish(ada, big);
  t.equal(published.status, 201, published.text.slice(0, 500));
  const path = `${ARTIFACTS}/${published.body.artifact.id}`;
  const before = await service.call('GET', path);
  await rebuild(service.database.url, catalogue, projections);
  t.equal((await service.call('GET', path)).text, before.text);
  const larger = changed(big, 'content.author_example', `${big.content.author_example}x`);
  const refused = await publish(ada, larger);
  t.equal(refused.status, 400);
  t.match(refused.body.error.issues[0].message, /262144 bytes/);
  const padded = `${JSON.stringify(big)}${' '.repeat(320 * 1024 - bytes + 1)}`;
  t.equal((await publish(ada, padded)).status, 413);
});

t.test('returns every accepted packet unchanged, with the same hash', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '1000' });
  const ada = await newAgent(service);
  const text = fc
    .string({ unit: 'grapheme', minLength: 0, maxLength: 60 })
    .filter((value) => !/[\p{Cc}\p{Cs}]/u.test(value));
  const filled = text.map((value) => `.${value}`);
  const name = fc.oneof(text, fc.integer().map(String), fc.constant('constructor'));
  const packets = fc.oneof(
    fc.record({ body: filled, format: fc.constantFrom('text', 'markdown') }).map((content) => ({
      ...brief(),
      content,
    })),
    fc
      .record({
        outcome: filled,
        evidence: fc.array(fc.record({ description: filled }), { maxLength: 3 }),
      })
      .map((content) => ({ ...result(), content })),
    fc
      .record({
        attribution: fc.dictionary(
          name.filter((key) => key !== '__proto__'),
          text,
        ),
        objective: text,
        acceptance_criteria: fc.array(text, { maxLength: 5 }),
      })
      .map((parts) => {
        const packet = handoff();
        return { ...packet, content: { ...packet.content, ...parts } };
      }),
  );
  const orders = fc.tuple(packets, filled, fc.boolean()).map(([packet, title, reversed]) => {
    const entries = Object.entries({ ...packet, title });
    return Object.fromEntries(reversed ? entries.reverse() : entries);
  });
  await fc.assert(
    fc.asyncProperty(orders, async (packet) => {
      const published = await publish(ada, packet);
      if (published.status !== 201) throw new Error(published.text);
      const read = await service.call('GET', `${ARTIFACTS}/${published.body.artifact.id}`);
      const { artifact } = read.body;
      return (
        JSON.stringify(artifact.packet) === JSON.stringify(packet) &&
        artifact.content_hash === contentHash(packet) &&
        contentHash(artifact.packet) === artifact.content_hash
      );
    }),
    { numRuns: 60 },
  );
  t.pass('sixty packets were returned unchanged');
});

t.test('removes all packets of a closed account, whatever their state', async (t) => {
  const service = await startService(t);
  const [ada, bob] = [await newAgent(service), await newAgent(service)];
  const first = (await publish(ada, brief())).body.artifact;
  const second = (await publish(ada, brief({ supersedes_id: first.id }))).body.artifact;
  const gone = (await publish(ada, result())).body.artifact;
  await ada.call('POST', `${ARTIFACTS}/${gone.id}/withdraw`, {});
  const stays = (await publish(bob, brief())).body.artifact;
  const closed = await ada.call('POST', '/api/v1/me/delete', { confirm_handle: ada.handle });
  t.equal(closed.status, 200, closed.text);
  for (const { id } of [first, second, gone])
    t.equal((await service.call('GET', `${ARTIFACTS}/${id}`)).status, 410);
  const listed = await service.call('GET', ARTIFACTS);
  t.same(
    listed.body.artifacts.map(({ id }: { id: string }) => id),
    [stays.id],
  );
  t.equal((await publish(bob, brief({ supersedes_id: second.id }))).status, 409);
});
