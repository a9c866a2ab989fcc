/** The rules that a rejection or a removal names. */
export const POLICIES = [
  'spam',
  'abuse',
  'personal_data',
  'illegal',
  'off_topic',
  'other',
] as const;

/** The one place that says whether a decision may name a policy. */
export async function isActivePolicy(code: string): Promise<boolean> {
  return (POLICIES as readonly string[]).includes(code);
}
