/** The stream of decisions on a membership and of appeals against them; the member owns it. */
export const disablingStream = (memberId: string): string => `disabling-${memberId}`;
