const LIVE = ['guestbook', 'thread', 'me'] as const;

/** Whether a script takes the page of this view over in the browser. */
export const isLive = <View extends { kind: string }>(
  view: View,
): view is Extract<View, { kind: (typeof LIVE)[number] }> =>
  LIVE.some((kind) => kind === view.kind);
