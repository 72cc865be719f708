//! The Deployment itself: its spec on create and update, strategy, selector against template.
