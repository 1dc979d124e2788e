"""The squared prediction gap, exactly and by sampling."""
