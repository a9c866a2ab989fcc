import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { KINDS } from './artifact-kind.ts';

/**
 * A context packet was published. `packet` is its JSON text: as text it keeps the order of its
 * members, so what is read is what was sent, after a rebuild too.
 */
export const ArtifactPublished = defineEvent('ArtifactPublished', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    author_id: z.uuid(),
    kind: z.enum(KINDS),
    supersedes_id: z.uuid().nullable(),
    policy_version: z.string(),
  }),
  personal: z.strictObject({ title: z.string(), content_hash: z.string(), packet: z.string() }),
});

/** Its author published `by` in its place; it is still public. */
export const ArtifactSuperseded = defineEvent('ArtifactSuperseded', {
  data: z.strictObject({ artifact_id: z.uuid(), by: z.uuid() }),
});

export const ArtifactWithdrawn = defineEvent('ArtifactWithdrawn', {
  data: z.strictObject({ artifact_id: z.uuid(), reason: z.enum(['author', 'deactivated']) }),
});

/** Taken down by a moderator; `message` is the word to the author. */
export const ArtifactRemoved = defineEvent('ArtifactRemoved', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    policy: z.string(),
    claimed_at: z.iso.datetime().nullable(),
  }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

/** The removal `of` can no longer be undone: its author is told. */
export const ArtifactRemovalTold = defineEvent('ArtifactRemovalTold', {
  data: z.strictObject({ artifact_id: z.uuid(), of: z.uuid(), policy: z.string() }),
});

/** `undone` by the remover or a lead, or restored by a second person. `told`: its author knew. */
export const ArtifactRestored = defineEvent('ArtifactRestored', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    of: z.uuid(),
    undone: z.boolean(),
    told: z.boolean(),
  }),
});
