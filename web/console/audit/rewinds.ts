import { cursorOf, type Paged } from '../decide/undo.ts';
import { call } from '../session/moderation-api.ts';
import type { RewindPreview, RewindReply } from '../words/api-model.ts';
import { type Failure, failureText, toFailure } from '../words/failure.ts';

type Entry = RewindPreview['undo'][number];
type Left = RewindPreview['left'][number];

/** All pages of a preview, with the fingerprint of each. */
export interface Preview {
  since: string;
  undo: Entry[];
  left: Left[];
  fingerprints: string[];
}

export interface Rewound {
  batchId: string;
  undone: Entry[];
  left: Left[];
  /** Why the rewind stopped before its last page; null if it did not. */
  stopped: string | null;
}

const path = (moderatorId: string) => `moderators/${moderatorId}/rewind`;

export async function previewRewind(moderatorId: string, since: string): Promise<Preview> {
  const preview: Preview = { since, undo: [], left: [], fingerprints: [] };
  let place: Paged | undefined;
  do {
    const body = { since, dry_run: true, ...cursorOf(place) };
    const page: RewindPreview = await call<RewindPreview>('POST', path(moderatorId), body);
    preview.undo.push(...page.undo);
    preview.left.push(...page.left);
    preview.fingerprints.push(page.fingerprint);
    place = page;
  } while (place.next_cursor);
  return preview;
}

/** Runs a rewind page by page, each as it was previewed. Throws if the first page is refused. */
export async function runRewind(
  moderatorId: string,
  { since, fingerprints }: Preview,
): Promise<Rewound> {
  const rewound: Rewound = { batchId: '', undone: [], left: [], stopped: null };
  let place: Paged | undefined;
  for (const fingerprint of fingerprints) {
    const body = { since, dry_run: false, fingerprint, ...cursorOf(place) };
    try {
      const page: RewindReply = await call<RewindReply>('POST', path(moderatorId), body);
      rewound.batchId = page.batch_id;
      rewound.undone.push(...page.undone);
      rewound.left.push(...page.left);
      place = page;
    } catch (error) {
      const failure = toFailure(error);
      if (rewound.batchId === '') throw failure;
      return { ...rewound, stopped: rewindFailureText(failure) };
    }
  }
  return rewound;
}

export const rewindFailureText = (failure: Failure): string =>
  failure.reason === 'version_mismatch'
    ? 'Something has changed since the preview. Preview it again.'
    : failureText(failure);
