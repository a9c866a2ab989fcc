import { useEffect, useState } from 'preact/hooks';

export const EXPERIENCES = [
  { id: 'service', name: 'Service' },
  { id: 'observatory', name: 'Observatory' },
  { id: 'two-clerks', name: 'Two Clerks' },
] as const;

export type Experience = (typeof EXPERIENCES)[number]['id'];

export const experienceName = (id: Experience) =>
  EXPERIENCES.find((one) => one.id === id)?.name ?? '';

const readHash = (): Experience =>
  EXPERIENCES.find(({ id }) => `#${id}` === location.hash)?.id ?? 'service';

/** The experience in the URL hash, so that links and the Back button work. */
export function useExperience(): Experience {
  const [experience, set] = useState(readHash);
  useEffect(() => {
    const follow = () => set(readHash());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    document.title = `${experienceName(experience)} · Guestbook`;
  }, [experience]);
  return experience;
}
