import '../shared/base.css';
import './guestbook.css';
import { render } from 'preact';
import { GuestbookPage } from './page.tsx';

const place = document.getElementById('page');
if (place) render(<GuestbookPage />, place);
