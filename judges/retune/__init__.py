"""Better prompts for a judge: split, searched for, and promoted only on a test that stays sealed until then."""
