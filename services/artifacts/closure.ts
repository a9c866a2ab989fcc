import type { Append } from '../../platform/eventstore/append.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import {
  type OpenArtifactRow,
  openArtifactsOfMember,
} from '../../projections/artifacts/artifacts.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';

/**
 * Withdraws all packets when their author's account is closed. `rows`, loaded while the member is
 * locked, include removed packets, so that they cannot be restored.
 */
export function closeArtifacts(memberId: string, rows: readonly OpenArtifactRow[]): Append[] {
  return rows.map(({ artifact_id, version }) => ({
    owner: memberOwner(memberId),
    stream: `artifact-${artifact_id}`,
    version,
    actor: { type: 'member', id: memberId },
    events: [
      {
        type: 'ArtifactWithdrawn',
        data: { artifact_id, reason: 'deactivated' },
        personal: null,
      },
    ],
  }));
}

export const artifactsClosure = defineAccountClosure({
  load: (memberId, _request, limit) => openArtifactsOfMember(memberId, limit),
  close: closeArtifacts,
  rows: (_memberId, rows) => [
    dropLeases(
      'artifact',
      rows.map(({ artifact_id }) => artifact_id),
    ),
  ],
});
