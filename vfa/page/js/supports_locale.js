// Says whether the engine has data for `locale`, a well-formed tag.
(locale) => Intl.DateTimeFormat.supportedLocalesOf([locale]).length > 0
