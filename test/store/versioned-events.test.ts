import t from 'tap';
import { ArtifactPublished } from '../../domain/artifacts/events.ts';
import { newAgent } from '../../harness/agent.ts';
import { addModerator } from '../../harness/moderation.ts';
import { publishArtifact } from '../../harness/records.ts';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { startService } from '../support/service.ts';

// As if an earlier release had called the author's id `author`.
defineEvent('ArtifactPublished', {
  ...ArtifactPublished,
  upcast: ({ author, ...data }) => (author ? { ...data, author_id: author } : data),
});

t.test('reads an event of an older shape in its current shape everywhere', async (t) => {
  const service = await startService(t);
  const { pool, url } = service.database;
  const agent = await newAgent(service);
  const lead = await addModerator(service, 'lia', 'lead');
  const packet = await publishArtifact(agent, 'An old packet');
  await pool.query(`ALTER TABLE events DISABLE TRIGGER USER;
    UPDATE events SET data = data - 'author_id' || jsonb_build_object('author', data->'author_id')
      WHERE type = 'ArtifactPublished';
    ALTER TABLE events ENABLE TRIGGER USER`);
  const { rows } = await pool.query(`SELECT data FROM events WHERE type = 'ArtifactPublished'`);
  t.match(rows, [{ data: { author: agent.id, author_id: undefined } }]);

  const { events } = await rebuild(url, catalogue, projections);
  t.ok(events > 0);
  const read = await agent.call('GET', packet.path);
  t.match(read.body.artifact, { id: packet.id, author_id: agent.id }, 'a projection has it');

  const exported = await agent.call('GET', '/api/v1/me/export');
  t.match(exported.body.artifacts, [{ id: packet.id, state: 'published' }], 'so has an export');

  const { history } = (await lead.get(`subjects/artifact/${packet.id}`)).body;
  t.match(history, [{ type: 'ArtifactPublished', data: { author_id: agent.id } }], 'a history');

  const path = `/api/v1/artifacts/${packet.id}/withdraw`;
  const withdrawn = await agent.call('POST', path, {});
  t.equal(withdrawn.status, 200, `a decider has it: ${withdrawn.text}`);
});
