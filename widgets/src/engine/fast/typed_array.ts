/** Name of the class that all typed arrays extend. The class has no global name. */
export const TYPED_ARRAY = "%TypedArray%";
