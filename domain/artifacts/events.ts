import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { ARTIFACT_KINDS } from './words.ts';

export const ArtifactPublished = defineEvent('ArtifactPublished', {
  summary:
    'A member published a context packet. `packet` is JSON text, which keeps the order of its fields: reads return the packet as it was sent, even after a rebuild.',

  data: z.strictObject({
    artifact_id: z.uuid(),
    author_id: z.uuid(),
    kind: z.enum(ARTIFACT_KINDS),
    supersedes_id: z.uuid().nullable(),
    policy_version: z.string(),
  }),
  personal: z.strictObject({ title: z.string(), content_hash: z.string(), packet: z.string() }),
});

export const ArtifactSuperseded = defineEvent('ArtifactSuperseded', {
  summary: 'The author published `by` as the successor of this artifact, which stays public.',

  data: z.strictObject({ artifact_id: z.uuid(), by: z.uuid() }),
});

export const ArtifactWithdrawn = defineEvent('ArtifactWithdrawn', {
  summary: 'The author withdrew the artifact or closed the account.',

  data: z.strictObject({ artifact_id: z.uuid(), reason: z.enum(['author', 'deactivated']) }),
});

export const ArtifactRemoved = defineEvent('ArtifactRemoved', {
  summary: 'A moderator removed the artifact. `message` is addressed to the author.',

  data: z.strictObject({
    artifact_id: z.uuid(),
    policy: z.string(),
    claimed_at: z.iso.datetime().nullable(),
  }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

export const ArtifactRemovalTold = defineEvent('ArtifactRemovalTold', {
  summary: 'The removal `of` can no longer be undone; this event notifies the author.',

  data: z.strictObject({ artifact_id: z.uuid(), of: z.uuid(), policy: z.string() }),
});

export const ArtifactRestored = defineEvent('ArtifactRestored', {
  summary:
    'The artifact is public again. `undone`: the moderator who removed it or a lead undid the removal; otherwise a second person restored it. `told`: the author had been notified of the removal.',

  data: z.strictObject({
    artifact_id: z.uuid(),
    of: z.uuid(),
    undone: z.boolean(),
    told: z.boolean(),
  }),
});
