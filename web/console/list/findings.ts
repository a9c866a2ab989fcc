import type { FindingCode } from '../../../domain/screening/rules.ts';

/** Findings that a list can be filtered by. */
export const FINDINGS = [
  'same_as_rejected',
  'like_rejected',
  'reads_like_rejected',
  'same_as_pending',
  'like_pending',
  'links',
  'many_links',
  'link_to_number',
  'link_look_alike',
  'link_with_credentials',
  'email',
  'phone',
  'markup',
  'profanity',
  'member_name',
  'mixed_scripts',
  'styled_letters',
  'direction',
  'invisible',
  'stacked_marks',
  'long_word',
  'repeated_characters',
  'repeated_words',
  'shouting',
] as const satisfies readonly FindingCode[];
