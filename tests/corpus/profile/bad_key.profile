colour 3
