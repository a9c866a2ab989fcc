import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { ARTIFACT_KINDS } from './artifact-kind.ts';

/**
 * A context packet was published. `packet` is stored as JSON text, which keeps the order of its
 * fields: reads return the packet as it was sent, even after a rebuild.
 */
export const ArtifactPublished = defineEvent('ArtifactPublished', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    author_id: z.uuid(),
    kind: z.enum(ARTIFACT_KINDS),
    supersedes_id: z.uuid().nullable(),
    policy_version: z.string(),
  }),
  personal: z.strictObject({ title: z.string(), content_hash: z.string(), packet: z.string() }),
});

/** The author published `by` as the successor of this artifact, which stays public. */
export const ArtifactSuperseded = defineEvent('ArtifactSuperseded', {
  data: z.strictObject({ artifact_id: z.uuid(), by: z.uuid() }),
});

export const ArtifactWithdrawn = defineEvent('ArtifactWithdrawn', {
  data: z.strictObject({ artifact_id: z.uuid(), reason: z.enum(['author', 'deactivated']) }),
});

/** A moderator removed the artifact; `message` is addressed to the author. */
export const ArtifactRemoved = defineEvent('ArtifactRemoved', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    policy: z.string(),
    claimed_at: z.iso.datetime().nullable(),
  }),
  personal: z.strictObject({ message: z.string().nullable() }),
});

/** The removal `of` can no longer be undone, so this event notifies the author. */
export const ArtifactRemovalTold = defineEvent('ArtifactRemovalTold', {
  data: z.strictObject({ artifact_id: z.uuid(), of: z.uuid(), policy: z.string() }),
});

/**
 * The artifact is public again. `undone`: the moderator who removed it or a lead undid the removal;
 * otherwise a second person restored it. `told`: the author had been notified of the removal.
 */
export const ArtifactRestored = defineEvent('ArtifactRestored', {
  data: z.strictObject({
    artifact_id: z.uuid(),
    of: z.uuid(),
    undone: z.boolean(),
    told: z.boolean(),
  }),
});
