import { randomUUID } from 'node:crypto';
import { decide, submit } from './moderation.ts';
import { publishArtifact } from './records.ts';
import {
  createOperation,
  expectSuccess,
  type Operation,
  type Traffic,
} from './traffic-operation.ts';
import { createPreparedOperation } from './traffic-writes.ts';

/** Operations of moderators. */
export function reviews({ api, ann, moderator, lead }: Traffic): Operation[] {
  const pending = () => submit(api);
  const wanted = async () => {
    await freed();
    return submit(api);
  };
  const removed = async () => {
    const { id } = await publishArtifact(ann);
    const path = `subjects/artifact/${id}`;
    const version = async () => (await expectSuccess(lead.get(path))).item.version;
    const body = { action: 'remove', policy: 'spam', expected_version: await version() };
    await expectSuccess(moderator.post(`${path}/decisions`, body));
    return { path, expected_version: await version() };
  };
  const held = async (): Promise<string[]> => {
    const { id } = await wanted();
    const { claims } = await expectSuccess(moderator.post('claims', { note_ids: [id] }));
    return claims.map(({ lease_id }: { lease_id: string }) => lease_id);
  };
  const release = (lease_ids: string[]) => moderator.post('claims/release', { lease_ids });
  const approved = async () => {
    const { id } = await submit(api);
    return expectSuccess(decide(moderator, id, 'approve'));
  };
  const batch = async () => {
    const items = [];
    for (let n = 0; n < 3; n++)
      items.push({ note_id: (await submit(api)).id, expected_version: 1 });
    return { action: 'reject', policy: 'spam', items };
  };
  return [
    createPreparedOperation('POST /api/moderation/claims', freed, () =>
      moderator.post('claims', { count: 1 }),
    ),
    createPreparedOperation('POST /api/moderation/claims, by id', wanted, ({ id }) =>
      moderator.post('claims', { note_ids: [id] }),
    ),
    createPreparedOperation('POST /api/moderation/claims/renew', held, async (lease_ids) => {
      const answer = await moderator.post('claims/renew', { lease_ids });
      await release(lease_ids);
      return answer;
    }),
    createPreparedOperation('POST /api/moderation/claims/release', held, release),
    createPreparedOperation(
      'POST /api/moderation/notes/:id/decisions, approve',
      pending,
      ({ id }) => decide(moderator, id, 'approve'),
    ),
    createPreparedOperation('POST /api/moderation/notes/:id/decisions, reject', pending, ({ id }) =>
      decide(moderator, id, 'reject'),
    ),
    createPreparedOperation(
      'POST /api/moderation/decisions/:event_id/undo',
      approved,
      ({ event_id, version }) =>
        moderator.post(`decisions/${event_id}/undo`, { expected_version: version }),
    ),
    createPreparedOperation('POST /api/moderation/decisions/batch', batch, (body) =>
      moderator.post('decisions/batch', body),
    ),
    createPreparedOperation(
      'POST /api/moderation/batches/:id/undo',
      async () => expectSuccess(moderator.post('decisions/batch', await batch())),
      ({ batch_id }) => moderator.post(`batches/${batch_id}/undo`, {}),
    ),
    createPreparedOperation(
      'POST /api/moderation/subjects/:type/:id/decisions',
      removed,
      ({ path, ...version }) => lead.post(`${path}/decisions`, { action: 'restore', ...version }),
    ),
    createPreparedOperation(
      'POST /api/moderation/subjects/:type/:id/comments, note',
      pending,
      ({ id }) => moderator.post(`subjects/note/${id}/comments`, { text: 'Seen before' }),
    ),
    createPreparedOperation(
      'POST /api/moderation/subjects/:type/:id/comments, artifact',
      () => publishArtifact(ann),
      ({ id }) => moderator.post(`subjects/artifact/${id}/comments`, { text: 'Seen before' }),
    ),
    createOperation('POST /api/moderation/subjects/:type/:id/comments, member', () =>
      moderator.post(`subjects/member/${ann.id}/comments`, { text: 'Seen before' }),
    ),
    createPreparedOperation(
      'POST /api/moderation/subjects/:type/:id/comments/:event_id/delete',
      async () => {
        const path = `subjects/note/${(await submit(api)).id}/comments`;
        return `${path}/${(await expectSuccess(moderator.post(path, { text: 'x' }))).event_id}/delete`;
      },
      (path) => moderator.post(path, {}),
    ),
    createOperation('POST /api/moderation/moderators/:id/rewind', () =>
      lead.post(`moderators/${moderator.id}/rewind`, {
        since: new Date(Date.now() - 60_000).toISOString(),
        dry_run: true,
      }),
    ),
    createOperation('PUT /api/moderation/policies', () =>
      api.call('PUT', '/api/moderation/policies', {
        body: { code: 'other', title: `Other ${Math.random()}`, text: 'More', active: true },
        headers: { authorization: `Bearer ${lead.token}` },
      }),
    ),
    createPreparedOperation(
      'PUT /api/moderation/folds/:kind/:note_id',
      async () => `/api/moderation/folds/address/${(await submit(api)).id}`,
      async (path) => {
        const headers = { authorization: `Bearer ${moderator.token}` };
        const answer = await api.call('PUT', path, { body: { days: 1 }, headers });
        await api.call('DELETE', path, { headers });
        return answer;
      },
    ),
    createPreparedOperation(
      'DELETE /api/moderation/folds/:kind/:note_id',
      async () => {
        const path = `/api/moderation/folds/address/${(await submit(api)).id}`;
        const headers = { authorization: `Bearer ${moderator.token}` };
        await expectSuccess(api.call('PUT', path, { body: { days: 1 }, headers }));
        return { path, headers };
      },
      ({ path, headers }) => api.call('DELETE', path, { headers }),
    ),
    createOperation('PUT /api/moderation/views/:view_id', () =>
      api.call('PUT', `/api/moderation/views/${moderator.id}`, {
        body: savedView({ finding: 'links' }),
        headers: { authorization: `Bearer ${moderator.token}` },
      }),
    ),
    createPreparedOperation(
      'DELETE /api/moderation/views/:view_id',
      async () => {
        const path = `/api/moderation/views/${randomUUID()}`;
        const headers = { authorization: `Bearer ${lead.token}` };
        await expectSuccess(api.call('PUT', path, { body: savedView({}), headers }));
        return { path, headers };
      },
      ({ path, headers }) => api.call('DELETE', path, { headers }),
    ),
    createOperation('POST /api/moderation/session', () =>
      api.call('POST', '/api/moderation/session', { body: { token: moderator.token } }),
    ),
    createPreparedOperation(
      'DELETE /api/moderation/session',
      async () => {
        const body = { token: lead.token };
        const answer = await api.call('POST', '/api/moderation/session', { body });
        return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] };
      },
      (cookie) => api.call('DELETE', '/api/moderation/session', cookie),
    ),
  ];

  /** Releases all claims before the moderator reaches the limit of ten. */
  async function freed(): Promise<void> {
    const { leases } = await expectSuccess(moderator.get('me'));
    const ids = leases.map(({ lease_id }: { lease_id: string }) => lease_id);
    if (ids.length > 5) await release(ids);
  }
}

const savedView = (filters: object) => ({ name: 'Saved', shared: true, view: 'todo', filters });
