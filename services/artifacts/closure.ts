import { type Append, attribute } from '../../platform/eventstore/append.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  type OpenArtifactRow,
  openArtifactsOfMember,
} from '../../projections/artifacts/artifacts.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { artifactStreams } from './artifact-stream.ts';

/**
 * Withdraws all packets when their author's account is closed. `rows`, loaded while the member is
 * locked, include removed packets, so that they cannot be restored.
 */
export const closeArtifacts = (memberId: string, rows: readonly OpenArtifactRow[]): Append[] =>
  rows.flatMap(({ artifact_id: artifactId, version }) => {
    // Whether it is removed or superseded makes no difference to a withdrawal.
    const status = 'published' as const;
    const open = { artifactId, authorId: memberId, supersededBy: null, told: false, status };
    const withdrawn = artifactStreams
      .at(memberOwner(memberId), artifactId, version, { ...open, version })
      .decide({ type: 'WithdrawArtifact', authorId: memberId, reason: 'deactivated' });
    if (isRefusal(withdrawn)) throw new Error(`artifact ${artifactId}: ${withdrawn.refused}`);
    return attribute(withdrawn.appends, { type: 'member', id: memberId });
  });

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
