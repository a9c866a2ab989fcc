import * as artifacts from '../../domain/artifacts/events.ts';
import { addEntry, defineActivity, hideEntries, takeDownEntries } from '../activity-entry.ts';
import { defineFeedEntries } from '../feed-entry.ts';

const subject = (id: string) => ({ type: 'artifact', id });

/**
 * Members are notified of a removal once it can no longer be undone, and of a restoration only if
 * they were notified of the removal.
 */
export const artifactsFeed = defineFeedEntries(artifacts, {
  ArtifactPublished: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'artifact.published',
    subject: subject(data.artifact_id),
    data: { kind: data.kind, supersedes_id: data.supersedes_id },
  }),
  ArtifactSuperseded: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'artifact.superseded',
    subject: subject(data.artifact_id),
    data: { superseded_by: data.by },
  }),
  ArtifactWithdrawn: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'artifact.withdrawn',
    subject: subject(data.artifact_id),
    data: { reason: data.reason },
  }),
  ArtifactRemovalTold: ({ owner_id, data }) => ({
    member: owner_id,
    type: 'artifact.removed',
    subject: subject(data.artifact_id),
    data: { policy: data.policy },
  }),
  ArtifactRestored: ({ owner_id, data }) =>
    data.told
      ? {
          member: owner_id,
          type: 'artifact.published',
          subject: subject(data.artifact_id),
          data: { restored: true },
          actor: { type: 'moderator' },
        }
      : [],
});

export const artifactsActivity = defineActivity(artifacts, {
  ArtifactPublished: (event) => addEntry(event, 'artifact.published', event.data.artifact_id),
  ArtifactRemoved: ({ data }) => takeDownEntries('artifact', data.artifact_id, true),
  ArtifactRestored: ({ data }) => takeDownEntries('artifact', data.artifact_id, false),
  ArtifactWithdrawn: ({ data }) => hideEntries('artifact', data.artifact_id),
});
