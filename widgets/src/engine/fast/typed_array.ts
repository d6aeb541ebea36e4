/** What stands for the class that all typed arrays extend: it has no name among the globals. */
export const TYPED_ARRAY = "%TypedArray%";
