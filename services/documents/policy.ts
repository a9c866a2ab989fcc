import { APPEAL_DAYS } from '../../domain/guestbook/author-decisions.ts';
import { REPORT_REASONS } from '../../domain/guestbook/words.ts';
import { POLICY_VERSION } from '../../domain/publications/words.ts';
import type { Config } from '../../platform/config.ts';
import type { PolicyRow } from '../../projections/moderation/policies.ts';
import { MAX_PACKET_BYTES } from '../artifacts/packet.ts';
import { consent } from '../publications/publication-kind.ts';
import type { PublicPolicy } from './policy-shape.ts';

const PUBLISHED = [
  'Approved guestbook notes: the text, the name its author chose (or the member handle), the time.',
  'Published profiles: handle, display name, summary, links, capabilities.',
  'Context packets as their authors sent them, with the author id and a content hash.',
  'Cases with their submissions, reviews and notes, and who opened, claimed and reviewed them.',
  'The public record of these, newest first, under /api/v1/activity.',
];

const NOT_PUBLISHED = [
  'Notes before a decision, and rejected, removed or withdrawn ones.',
  'Keys, secrets and sessions: only keyed verifiers are stored, and they are in no answer.',
  'Reports, appeals and what moderators say to an author.',
  'Addresses: counters keep a keyed hash of the IPv4 address or IPv6 /64 for a limited time.',
  'Registration by itself: a member without a publication is not listed.',
];

const KEPT = [
  'The log of events, permanently: ids, codes and times. Names and texts are kept apart in it and can be erased.',
  'Receipts of writes, permanently, so that an exact retry is always answered.',
  'The last day of use of each credential, for its member alone, until the account is deleted.',
  'Where the log is sealed (/log/checkpoint): a salted hash of each event, permanently and in public. It shows how many events there are and when batches were added, and nothing of their content.',
  'Handles: each belongs to one member permanently; after deletion as a keyed hash.',
];

const ERASED = [
  'Text of rejected, removed and withdrawn notes, after the times under retention.',
  'The former text of a note that its author corrects, at once.',
  'With an account: its names and free text in the log, the read models and the receipts.',
  'Approved notes of a deleted account stay, under the name `former member`, unless erase_notes is true.',
];

const RULES = [
  'A note is public only after a decision that the log shows.',
  'Software only sorts and explains: it publishes, rejects and delays nothing.',
  'A rejection or a removal names one of the policies below.',
  'A decision can be undone before the author is notified.',
  'An author who is a member may appeal once for each decision; somebody else decides the appeal.',
  'A membership can be disabled under one of the policies, for a time or until it is lifted. Its sessions, credentials and claims end. With the sign-in key the member learns why, may appeal once to a second lead, and can export and delete everything (/api/membership/disabled).',
  'Profiles, context packets and cases are public at once, and are taken down by the same rules.',
  'We never shadow-ban: no author is shown a hidden note as if it were public.',
];

/** The body of /policy.json, from the configuration of this instance and the active policies. */
export function publicPolicy(config: Config, policies: readonly PolicyRow[]): PublicPolicy {
  return {
    policy_version: POLICY_VERSION,
    status: 'ok',
    consent: {
      visibility: consent.visibility.value,
      publish_consent: consent.publish_consent.value,
      policy_version: POLICY_VERSION,
      meaning: 'Sent with each publication: its author agrees that it is public under this policy.',
    },
    published: PUBLISHED,
    not_published: NOT_PUBLISHED,
    kept: KEPT,
    erased: ERASED,
    retention: {
      rejected_or_removed_text_days: config.retentionRejectedDays,
      withdrawn_text_days: config.retentionWithdrawnDays,
      address_keys_hours: config.retentionAddressKeysHours,
      account_deletion: 'At once for everybody else; names and texts are erased within minutes.',
    },
    limits: {
      key_attempts_per_ten_minutes: config.limitKeyAttempts,
      credential_attempts_per_ten_minutes: config.limitBootstrapAttempts,
      registrations_per_day: config.limitRegistrationsPerDay,
      members: config.limitMembers,
      active_credentials: config.limitActiveCredentials,
      writes_per_day: config.limitWritesPerDay,
      notes_per_ten_minutes: config.limitNotesPerTenMinutes,
      notes_per_day: config.limitNotesPerDay,
      packet_bytes: MAX_PACKET_BYTES,
    },
    moderation: {
      rules: config.fastLane
        ? [
            ...RULES,
            'Fast lane: a clear note of a member with a good record is approved by the service, which names the rule.',
          ]
        : RULES,
      undo_window_seconds: config.undoWindowSeconds,
      fast_lane: config.fastLane,
      appeal_days: APPEAL_DAYS,
      report_reasons: [...REPORT_REASONS],
      policies: policies
        .filter(({ active }) => active)
        .map(({ code, title, text }) => ({ code, title: title ?? '', text: text ?? '' })),
    },
  };
}
